import FileDB
import FileDBCluster
import FileDBEssentials

/// Where a store is in etcd: `etcd://user:password@host:port,host:port/prefix`.
struct EtcdAddress: Equatable, Sendable {
  static let port = 2379

  let endpoints: [EtcdEndpoint]
  /// All keys begin with it.
  let prefix: String
  let user: String?
  /// `nil` where the environment has it, in `ETCDCTL_PASSWORD`.
  private let givenPassword: String?

  var password: String? { givenPassword ?? ProcessInfo.processInfo.environment["ETCDCTL_PASSWORD"] }

  /// - Throws: ``StoreError/Code/unreachable`` for anything else. The error repeats nothing, for there may be a
  ///   password.
  init(_ text: String) throws(StoreError) {
    let scheme = "etcd://"
    guard text.hasPrefix(scheme) else {
      throw SharedAddress.wrong(
        "an address of etcd is etcd://HOST:PORT,HOST:PORT/PREFIX; there is no TLS")
    }
    var rest = text.dropFirst(scheme.count)
    guard !rest.contains("?") else {
      throw SharedAddress.wrong("an address of etcd has no parameter but 'store'; there is no TLS")
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let path = rest[slash...].split(separator: "/").joined(separator: "/")
    prefix = path.isEmpty ? "filedb" : path
    rest = rest[..<slash]
    if let at = rest.lastIndex(of: "@") {
      let words = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = SharedAddress.decoded(words[0]), !user.isEmpty else {
        throw SharedAddress.wrong("the address has a wrong name of a user")
      }
      self.user = user
      givenPassword = words.count == 2 ? SharedAddress.decoded(words[1]) : nil
      rest = rest[rest.index(after: at)...]
    } else {
      (user, givenPassword) = (nil, nil)
    }
    endpoints = try rest.split(separator: ",", omittingEmptySubsequences: false)
      .map { text throws(StoreError) in try EtcdEndpoint(text) }
  }

  /// The address of a store, without the password.
  func text(of store: String) -> String {
    let hosts = endpoints.map(\.description).joined(separator: ",")
    let user = user.map { SharedAddress.encoded($0) + "@" } ?? ""
    return "etcd://\(user)\(hosts)/\(prefix)?store=\(SharedAddress.encoded(store))"
  }
}

extension EtcdEndpoint {
  /// A host, or a host and a port.
  fileprivate init(_ text: Substring) throws(StoreError) {
    var (host, port) = (text, EtcdAddress.port)
    // An address of IPv6 has colons of its own.
    let bracket = text.lastIndex(of: "]") ?? text.startIndex
    if let colon = text[bracket...].lastIndex(of: ":") {
      guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number)
      else {
        throw SharedAddress.wrong("the address has a wrong port")
      }
      (host, port) = (text[..<colon], number)
    }
    let name = host.trimmingPrefix("[").prefix { $0 != "]" }
    guard !name.isEmpty, host.hasPrefix("[") == host.hasSuffix("]") else {
      throw SharedAddress.wrong("the address lacks a host")
    }
    self.init(host: String(name), port: port)
  }
}
