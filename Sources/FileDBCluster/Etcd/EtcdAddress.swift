import FileDB
import FileDBEssentials

/// The address of an etcd cluster: `etcd://user:password@host:port,host:port/prefix`, or with `etcds` for TLS.
struct EtcdAddress: Equatable, Sendable {
  static let port = 2379

  let endpoints: [EtcdEndpoint]
  /// The start of every key.
  let prefix: String
  let user: String?
  /// `nil` if the address has no password. Then it may be in the environment, in `ETCDCTL_PASSWORD`.
  private let givenPassword: String?
  /// `nil` if everything is sent in plain text.
  let security: EtcdSecurity?

  var password: String? { givenPassword ?? ProcessInfo.processInfo.environment["ETCDCTL_PASSWORD"] }

  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address. The error doesn't repeat the address, because it
  ///   may contain a password.
  init(_ text: String) throws(StoreError) {
    let schemes = ["etcd://", "etcds://"]
    guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else {
      throw SharedAddress.wrong(
        "the address of an etcd cluster is etcd://HOST:PORT,HOST:PORT/PREFIX, or etcds://… for TLS")
    }
    let (place, parameters) = SharedAddress.cut(text.dropFirst(scheme.count))
    let files = try EtcdSecurity(parameters)
    guard scheme == schemes[1] || files == EtcdSecurity() else {
      throw SharedAddress.wrong(
        "cacert, cert and key in an address are for TLS; write etcds:// instead of etcd://")
    }
    security = scheme == schemes[1] ? files : nil
    let slash = place.unicodeScalars.firstIndex(of: "/") ?? place.endIndex
    let path = place[slash...].parts(between: "/").filter { !$0.isEmpty }.joined(separator: "/")
    prefix = path.isEmpty ? "filedb" : path
    var rest = place[..<slash]
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
    let parameters = (security?.parameters ?? []) + ["store=\(PercentEncoding.encode(store))"]
    return
      "\(security == nil ? "etcd" : "etcds")://\(user)\(hosts)/\(prefix)?\(parameters.joined(separator: "&"))"
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
    // libcurl would take other characters for the end of the host.
    let isClean = PercentEncoding.encode(String(name), keeping: "-._~:") == name
    guard !name.isEmpty, isClean, host.hasPrefix("[") == host.hasSuffix("]") else {
      throw SharedAddress.wrong("a host in the address is missing or wrong")
    }
    self.init(host: String(name), port: port)
  }
}

/// The files that TLS uses, in PEM format. What the address does not say may be in the environment, as for `etcdctl`.
struct EtcdSecurity: Equatable, Sendable {
  private static let names: [(parameter: String, variable: String, option: LibCurl.Option)] = [
    ("cacert", "ETCDCTL_CACERT", .authority), ("cert", "ETCDCTL_CERT", .certificate),
    ("key", "ETCDCTL_KEY", .key),
  ]

  private var given: [String: String] = [:]

  init() {}

  /// - Throws: ``StoreError/Code/unreachable`` for another parameter, or for a path that depends on the folder in
  ///   which a program runs.
  fileprivate init(_ parameters: [String]) throws(StoreError) {
    for parameter in parameters {
      let (name, value) = parameter.cut(at: "=") ?? (parameter, "")
      guard Self.names.contains(where: { $0.parameter == name }) else {
        throw SharedAddress.wrong(
          "the address of an etcd cluster takes no parameters but store, cacert, cert and key")
      }
      guard let path = PercentEncoding.decode(value.utf8), path.utf8.first == UInt8(ascii: "/") else {
        throw SharedAddress.wrong("'\(name)' in the address must be the absolute path of a file")
      }
      guard given.updateValue(path, forKey: name) == nil else {
        throw SharedAddress.wrong("the address has '\(name)' twice")
      }
    }
  }

  /// For libcurl. Without an authority, it trusts those of the system.
  func files(_ environment: [String: String]) -> [(LibCurl.Option, String)] {
    Self.names.compactMap { name in
      let file = given[name.parameter] ?? environment[name.variable] ?? ""
      return file.isEmpty ? nil : (name.option, file)
    }
  }

  /// For an address.
  fileprivate var parameters: [String] {
    Self.names.compactMap { name in
      given[name.parameter].map { "\(name.parameter)=\(PercentEncoding.encode($0, keeping: "-._~/"))" }
    }
  }
}
