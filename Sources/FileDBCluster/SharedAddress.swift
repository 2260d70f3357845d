import FileDB
import FileDBEssentials

/// The address of a shared store: `postgres://db1,db2/app?store=notes` or `etcd://m1,m2,m3/app?store=notes`. It is the
/// URL of the database or the etcd cluster, with the store's name as one more parameter.
package struct SharedAddress: Sendable {
  /// The system that keeps the store's commits.
  package enum Engine: Sendable {
    case postgreSQL, etcd
  }

  private static let schemes: [(text: String, engine: Engine)] = [
    ("postgres://", .postgreSQL), ("postgresql://", .postgreSQL), ("etcd://", .etcd),
    ("etcds://", .etcd),
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
    let (place, parameters) = Self.cut(text.dropFirst(scheme.count))
    var (others, names): ([String], [String]) = ([], [])
    for parameter in parameters {
      let (key, value) = parameter.cut(at: "=") ?? (parameter, "")
      guard key == "store" else {
        others.append(parameter)
        continue
      }
      guard let name = PercentEncoding.decode(value.utf8), !name.isEmpty else {
        throw Self.wrong("the store's name after 'store=' is empty or wrong")
      }
      names.append(name)
    }
    guard names.count < 2 else { throw Self.wrong("the address names several stores") }
    connection = scheme + place + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
    store = names.first
  }

  /// Takes the parameters off the part of an address after its scheme. A `?` in the user's name or password begins none.
  static func cut(_ rest: Substring) -> (place: Substring, parameters: [String]) {
    let scalars = rest.unicodeScalars
    let server = scalars.prefix { $0 != "/" }
    let start = server.lastIndex(of: "@") ?? rest.startIndex
    guard let questionMark = scalars[start...].firstIndex(of: "?") else { return (rest, []) }
    let parameters = rest[scalars.index(after: questionMark)...].parts(between: "&")
    return (rest[..<questionMark], parameters.filter { !$0.isEmpty })
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

  /// The options of libpq that an address may have: which server, database and user, TLS, and for how long to wait.
  /// Others name files of passwords, or change what the connection does.
  private static let options: Set = [
    "host", "hostaddr", "port", "dbname", "user", "sslmode", "sslnegotiation", "sslrootcert", "sslcert",
    "sslkey",
    "sslcrl", "channel_binding", "gssencmode", "require_auth", "target_session_attrs", "connect_timeout",
    "tcp_user_timeout", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
    "application_name",
  ]

  /// The address of a store in the database of a connection string, without passwords.
  /// - Throws: ``StoreError/Code/unreachable`` if libpq does not understand the connection string, or if it has an
  ///   option that an address may not have.
  package static func text(of connection: String, store: String) throws(StoreError) -> String {
    let options = try LibPQ.load().options(of: connection)
    if let other = options.first(where: { !$0.isSecret && !Self.options.contains($0.name) }) {
      throw wrong(
        "the address of a store may not have libpq's option '\(other.name)'; set it in the environment")
    }
    let parameters = options.filter { !$0.isSecret }.map {
      "\($0.name)=\(PercentEncoding.encode($0.value, keeping: "-._~/,:"))"
    }
    return "postgres:///?" + (parameters + ["store=\(PercentEncoding.encode(store))"]).joined(separator: "&")
  }
}
