import FileDBCluster
import Foundation
import TestSupport
import Testing

/// A system that keeps shared stores, as the command line reaches it.
enum SharedEngine: CaseIterable, Sendable {
  case postgreSQL, etcd

  /// The systems that `Tests/Cluster/with-servers` has started.
  static let available = allCases.filter { (try? $0.url) != nil }
  static let isMissing: Comment = "needs the servers of Tests/Cluster/with-servers"

  /// The URL of the database or the cluster.
  var url: String {
    get throws {
      switch self {
      case .postgreSQL: "postgres://filedb@/postgres?host=\(try #require(PostgresServer.current).folder)"
      case .etcd: "\(try #require(EtcdCluster.current).address)/tests"
      }
    }
  }

  /// Runs `body` with an empty folder, and the address of a new store.
  func withStore(_ body: (_ folder: URL, _ address: String) throws -> Void) throws {
    let (url, name) = (try url, UUID().uuidString)
    try withTemporaryFolder { folder in
      let made = try filedb("shared", "init", url, name, in: folder)
      #expect(made.status == 0, "\(made)")
      try body(folder, "\(url)\(self == .etcd ? "?" : "&")store=\(name)")
    }
  }

  /// Makes this user's commands look for the store of a folder where nobody answers.
  func loseServer(of name: String, in folder: URL) throws {
    let address =
      self == .etcd ? "etcd://127.0.0.1:1/tests?store=x" : "postgres:///app?host=\(folder.path)&store=x"
    try JoinedStores().add(address, of: joined(name, in: folder))
  }

  /// A proxy to the server. It loses a commit.
  func proxy(losing loss: LossyProxy.Loss) throws -> LossyProxy {
    switch self {
    case .postgreSQL:
      let socket = "\(try #require(PostgresServer.current).folder)/.s.PGSQL.5432"
      return try LossyProxy(to: .socket(path: socket), losing: loss, of: .commitToPostgreSQL)
    case .etcd:
      let port = try #require(
        EtcdCluster.current?.address.split(separator: ",").first?.split(separator: ":").last.flatMap {
          Int($0)
        })
      return try LossyProxy(to: .port(port), losing: loss, of: .commitToEtcd)
    }
  }

  /// The address of a store by way of a proxy.
  func address(of address: String, by proxy: LossyProxy) throws -> String {
    let store = try #require(address.split(separator: "store=").last)
    return switch self {
    case .postgreSQL: "postgres://filedb@127.0.0.1:\(proxy.port)/postgres?store=\(store)"
    case .etcd: "etcd://127.0.0.1:\(proxy.port)/tests?store=\(store)"
    }
  }
}
