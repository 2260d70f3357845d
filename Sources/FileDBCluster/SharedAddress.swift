import FileDB

/// The address of a shared store: `postgres://db1,db2/app?store=notes` or `etcd://m1,m2,m3/app?store=notes`. It is the
/// URL of the database or the etcd cluster, with the store's name as one more parameter.
package struct SharedAddress: Sendable {
  /// The system that keeps the store's commits.
  package enum Engine: Sendable {
    case postgreSQL, etcd
  }

  private static let schemes: [(text: String, engine: Engine)] = [
    ("postgres://", .postgreSQL), ("postgresql://", .postgreSQL), ("etcd://", .etcd),
  ]

  package let engine: Engine
  /// The URL without the store's name. For PostgreSQL, libpq accepts it.
  package let connection: String
  /// The store's name; `nil` if the address has none.
  package let store: String?

  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address. The error does not repeat the address, because it
  ///   may contain a password.
  package init(_ text: String) throws(StoreError) {
    guard let (scheme, engine) = Self.schemes.first(where: { text.hasPrefix($0.text) }) else {
      throw Self.wrong(
        "the address of a shared store is postgres://HOST/DATABASE?store=NAME or etcd://HOST/PREFIX?store=NAME"
      )
    }
    self.engine = engine
    // Before the first / or @, a ? belongs to the user's name or password.
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
        throw Self.wrong("the store's name after 'store=' is empty or wrong")
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
  /// - Throws: ``StoreError/Code/unreachable`` if the address already names a store.
  package func naming(_ store: String) throws(StoreError) -> SharedAddress {
    guard self.store == nil else { throw Self.wrong("the address already names a store") }
    return SharedAddress(engine, connection: connection, store: store)
  }

  /// The name of the store.
  /// - Throws: ``StoreError/Code/unreachable`` if the address names no store.
  package var storeName: String {
    get throws(StoreError) {
      guard let store else { throw Self.wrong("the address names no store; add '?store=NAME'") }
      return store
    }
  }

  package static func wrong(_ message: String) -> StoreError { StoreError(.unreachable, message) }

  // MARK: Without secrets

  /// The address of a store in the database of a connection string, without passwords.
  /// - Throws: ``StoreError/Code/unreachable`` if libpq does not understand the connection string.
  package static func text(of connection: String, store: String) throws(StoreError) -> String {
    let options = try LibPQ.load().options(of: connection)
    let parameters = options.filter { !$0.isSecret }.map { "\($0.name)=\(encoded($0.value))" }
    return "postgres:///?" + (parameters + ["store=\(encoded(store))"]).joined(separator: "&")
  }

  /// Encodes a string for an address: a % and two hexadecimal digits replace each byte that may have a meaning there.
  /// - Parameter marks: the characters that stay as they are, in addition to letters and digits.
  package static func encoded(_ text: String, keeping marks: String = "-._~/,:") -> String {
    text.utf8.map { byte in
      let isPlain =
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      if isPlain || marks.utf8.contains(byte) { return String(Unicode.Scalar(byte)) }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// - Returns: `nil` if the encoding is wrong.
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
