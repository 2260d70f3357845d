import FileDB
import FileDBCluster
import FileDBEssentials

/// The address of an etcd cluster: `etcd://user:password@host:port,host:port/prefix`.
struct EtcdAddress: Equatable, Sendable {
  static let port = 2379

  let endpoints: [EtcdEndpoint]
  /// The start of every key.
  let prefix: String
  let user: String?
  /// `nil` if the address has no password. Then it may be in the environment, in `ETCDCTL_PASSWORD`.
  private let givenPassword: String?

  var password: String? { givenPassword ?? ProcessInfo.processInfo.environment["ETCDCTL_PASSWORD"] }

  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address. The error doesn't repeat the address, because it
  ///   may contain a password.
  init(_ text: String) throws(StoreError) {
    let scheme = "etcd://"
    guard text.hasPrefix(scheme) else {
      throw SharedAddress.wrong(
        "the address of an etcd cluster is etcd://HOST:PORT,HOST:PORT/PREFIX; TLS is not supported")
    }
    var rest = text.dropFirst(scheme.count)
    guard !rest.has("?") else {
      throw SharedAddress.wrong(
        "the address of an etcd cluster takes no parameter but 'store'; write a ? in a password as %3F; "
          + "TLS is not supported")
    }
    let slash = rest.unicodeScalars.firstIndex(of: "/") ?? rest.endIndex
    let path = rest[slash...].parts(between: "/").filter { !$0.isEmpty }.joined(separator: "/")
    prefix = path.isEmpty ? "filedb" : path
    rest = rest[..<slash]
    if let at = rest.unicodeScalars.lastIndex(of: "@") {
      let (name, password) = rest[..<at].cut(at: ":") ?? (String(rest[..<at]), nil)
      guard let user = PercentEncoding.decode(name.utf8), !user.isEmpty else {
        throw SharedAddress.wrong("the user's name in the address is empty or wrong")
      }
      self.user = user
      givenPassword = try password.map { text throws(StoreError) in try Self.password(text) }
      rest = rest[rest.unicodeScalars.index(after: at)...]
    } else {
      (user, givenPassword) = (nil, nil)
    }
    endpoints = try rest.parts(between: ",").map { text throws(StoreError) in try EtcdEndpoint(text) }
  }

  private static func password(_ text: String) throws(StoreError) -> String {
    guard let password = PercentEncoding.decode(text.utf8) else {
      throw SharedAddress.wrong(
        "the password in the address has a % that is not followed by two hexadecimal digits")
    }
    return password
  }

  /// The address of a store, without the password.
  func text(of store: String) -> String {
    let hosts = endpoints.map(\.description).joined(separator: ",")
    let user = user.map { PercentEncoding.encode($0) + "@" } ?? ""
    return "etcd://\(user)\(hosts)/\(prefix)?store=\(PercentEncoding.encode(store))"
  }
}

extension EtcdEndpoint {
  /// A host, or a host and a port.
  fileprivate init(_ text: String) throws(StoreError) {
    var (host, port) = (Substring(text), EtcdAddress.port)
    // An IPv6 address contains colons, too.
    let bracket = text.lastIndex(of: "]") ?? text.startIndex
    if let colon = text[bracket...].lastIndex(of: ":") {
      guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number)
      else {
        throw SharedAddress.wrong("a port in the address is wrong")
      }
      (host, port) = (text[..<colon], number)
    }
    let name = host.trimmingPrefix("[").prefix { $0 != "]" }
    guard !name.isEmpty, host.hasPrefix("[") == host.hasSuffix("]") else {
      throw SharedAddress.wrong("a host in the address is missing or wrong")
    }
    self.init(host: String(name), port: port)
  }
}
