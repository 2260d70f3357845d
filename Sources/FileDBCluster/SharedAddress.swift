import FileDB

/// Where a shared store is, in one word: `postgres://db1,db2/app?store=notes` or `etcd://m1,m2,m3/app?store=notes`. It
/// is the URL that leads to the engine, with the store's name as one more parameter.
package struct SharedAddress: Sendable {
  /// What keeps the store.
  package enum Engine: Sendable {
    case postgreSQL, etcd
  }

  private static let schemes: [(text: String, engine: Engine)] = [
    ("postgres://", .postgreSQL), ("postgresql://", .postgreSQL), ("etcd://", .etcd),
  ]

  package let engine: Engine
  /// The URL without the store's name; for PostgreSQL what libpq takes.
  package let connection: String
  /// The store's name; `nil` where the address has none.
  package let store: String?

  /// - Throws: ``StoreError/Code/unreachable`` for anything else. The error repeats nothing, for there may be a
  ///   password.
  package init(_ text: String) throws(StoreError) {
    guard let (scheme, engine) = Self.schemes.first(where: { text.hasPrefix($0.text) }) else {
      throw Self.wrong(
        "a shared store has an address such as postgres://HOST/DATABASE?store=NAME or etcd://HOST/PREFIX?store=NAME"
      )
    }
    self.engine = engine
    // In the part before the first / or @, a ? belongs to a user's name or password.
    let rest = text.dropFirst(scheme.count)
    let start = rest.firstIndex { "@/".contains($0) } ?? rest.startIndex
    guard let mark = rest[start...].firstIndex(of: "?") else {
      (connection, store) = (text, nil)
      return
    }
    var (others, names): ([Substring], [String]) = ([], [])
    for parameter in text[text.index(after: mark)...].split(separator: "&") {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0] == "store" else {
        others.append(parameter)
        continue
      }
      guard parts.count == 2, let name = Self.decoded(parts[1]), !name.isEmpty else {
        throw Self.wrong("the address has an empty or wrong name of a store behind 'store='")
      }
      names.append(name)
    }
    guard names.count < 2 else { throw Self.wrong("the address names several stores") }
    connection = text[..<mark] + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
    store = names.first
  }

  private init(_ engine: Engine, connection: String, store: String) {
    (self.engine, self.connection, self.store) = (engine, connection, store)
  }

  /// The same address for a store of this name.
  /// - Throws: ``StoreError/Code/unreachable`` where it names one already.
  package func naming(_ store: String) throws(StoreError) -> SharedAddress {
    guard self.store == nil else { throw Self.wrong("the address names a store already") }
    return SharedAddress(engine, connection: connection, store: store)
  }

  /// The name of the store.
  /// - Throws: ``StoreError/Code/unreachable`` where there is none.
  package var storeName: String {
    get throws(StoreError) {
      guard let store else { throw Self.wrong("the address names no store; it ends with '?store=NAME'") }
      return store
    }
  }

  package static func wrong(_ message: String) -> StoreError { StoreError(.unreachable, message) }

  // MARK: Without secrets

  /// The address of a store that is reached like this, without passwords.
  /// - Throws: ``StoreError/Code/unreachable`` where libpq does not understand it.
  package static func text(of connection: String, store: String) throws(StoreError) -> String {
    let options = try LibPQ.load().options(of: connection)
    let parameters = options.filter { !$0.isSecret }.map { "\($0.name)=\(encoded($0.value))" }
    return "postgres:///?" + (parameters + ["store=\(encoded(store))"]).joined(separator: "&")
  }

  /// - Returns: the text with a % and two digits for each byte that has a meaning in an address.
  /// - Parameter marks: the characters that keep being what they are, besides letters and digits.
  package static func encoded(_ text: String, keeping marks: String = "-._~/,:") -> String {
    text.utf8.map { byte in
      let isPlain =
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      if isPlain || marks.utf8.contains(byte) { return String(Unicode.Scalar(byte)) }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// - Returns: `nil` for what ``encoded(_:)`` does not write.
  package static func decoded(_ text: Substring) -> String? {
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text.utf8)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
