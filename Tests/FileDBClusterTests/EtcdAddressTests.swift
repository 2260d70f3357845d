import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// Addresses of etcd clusters.
@Suite struct EtcdAddressTests {
  @Test(arguments: [
    ("etcd://m1", ["m1:2379"], "filedb", nil),
    ("etcd://m1:1,m2/a/b/", ["m1:1", "m2:2379"], "a/b", nil),
    ("etcd://me:p%40w@[::1]:3,10.0.0.1/x", ["[::1]:3", "10.0.0.1:2379"], "x", "me"),
  ]) func partsAreTakenApart(text: String, endpoints: [String], prefix: String, user: String?) throws {
    let address = try EtcdAddress(text)
    #expect(address.endpoints.map(\.description) == endpoints && address.prefix == prefix)
    #expect(address.user == user && (user == nil || address.password == "p@w"))
    let shown = try SharedAddress(address.text(of: "a&b c/d"))
    #expect(shown.store == "a&b c/d" && !shown.connection.contains("p%40w"))
    let again = try EtcdAddress(shown.connection)
    let odd = try EtcdAddress("etcd://a%2Fb%2C:x@m1/p")
    #expect(try EtcdAddress(SharedAddress(odd.text(of: "s")).connection).user == "a/b,")
    #expect(again.endpoints == address.endpoints && again.prefix == prefix && again.user == user)
  }

  @Test(arguments: [
    "etcdss://geheim", "etcd://", "etcd://geheim:x/a", "etcd://geheim:0", "etcd://geheim,",
    "etcd://:geheim@m1",
    "etcd://geheim/a?tls=yes", "etcd://[geheim", "etcd://me:geheim%2@m1", "etcd://geheim#x/a",
    "etcd://m1 geheim",
    "etcds://m1/a?cacert=geheim.pem", "etcds://m1?cacert=", "etcds://m1?key=/a&key=/geheim",
    "etcd://m1?cert=/geheim",
  ]) func wrongAddressIsToldWithoutRepeatingIt(text: String) {
    let error = storeError { _ = try SharedLog.etcd(text, store: "s") }
    #expect(error?.code == .unreachable && error?.description.contains("geheim") == false)
  }
}

/// Passwords and files in addresses of etcd clusters.
@Suite struct EtcdSecretsTests {
  @Test func errorSaysHowToWriteThePercentSign() {
    let error = storeError { _ = try EtcdAddress("etcd://me:100%@m1") }
    #expect(error?.description.contains("two hexadecimal digits") == true)
  }

  @Test func questionMarkInAPasswordBeginsNoParameters() throws {
    let address = try EtcdAddress("etcds://me:a?b@m1/p?cacert=/etc/ca%20file.pem")
    #expect(address.password == "a?b" && address.prefix == "p")
    #expect(address.text(of: "s") == "etcds://me@m1:2379/p?cacert=/etc/ca%20file.pem&store=s")
  }

  @Test func environmentNamesTheFilesThatTheAddressLacks() throws {
    let environment = ["ETCDCTL_CACERT": "/env/ca", "ETCDCTL_CERT": "/env/cert", "ETCDCTL_KEY": "env/key"]
    let address = try EtcdAddress("etcds://m1?cert=/c")
    #expect(address.security?.files(environment).map(\.1) == ["/env/ca", "/c", "env/key"])
    let empty = try EtcdAddress("etcds://m1").security?.files(environment.mapValues { _ in "" })
    #expect(empty?.isEmpty == true, "an empty variable names no file")
    #expect(try EtcdAddress("etcd://m1").security == nil, "the environment does not turn TLS on")
  }

  @Test func filesOfTLSSurviveTheWayThroughAnAddress() throws {
    let address = try EtcdAddress("etcds://m1?key=/k&cert=/c&cacert=/a%26b")
    #expect(address.security?.files([:]).map(\.1) == ["/a&b", "/c", "/k"])
    #expect(try EtcdAddress(SharedAddress(address.text(of: "s")).connection) == address)
  }
}

/// The errors of etcd.
@Suite struct EtcdFailureTests {
  @Test func errorsNameTheOption() {
    for (message, option) in [
      ("etcdserver: request is too large", "--max-request-bytes"),
      ("grpc: received message larger than max (1048583 vs. 1024288)", "--max-request-bytes"),
      ("etcdserver: too many operations in txn request", "--max-txn-ops"),
      ("etcdserver: mvcc: database space exceeded", "--quota-backend-bytes"),
    ] {
      #expect(StoreError(EtcdFailure(code: 3, message: message)).description.contains(option))
    }
  }

  @Test(arguments: ["etcdserver: invalid auth token", "etcdserver: revision of auth store is old"])
  func tokenThatNoLongerWorksIsRenewed(message: String) {
    guard case .refused(.invalidToken, _) = EtcdFailure(code: 3, message: message) else {
      Issue.record("\(message)")
      return
    }
  }

  @Test func requestThatMayStillSucceedDoesNotCountAsRefused() {
    for code in [2, 4, 13, 14] {
      guard case .lost = EtcdFailure(code: code, message: "etcdserver: request timed out") else {
        Issue.record("\(code)")
        return
      }
    }
  }
}

/// An etcd that cannot be reached.
@Suite struct UnreachableEtcdTests {
  @Test func writeFailsIfNoMemberCanBeReached() throws {
    try withTemporaryFolder { folder in
      let log = try SharedLog.etcd("etcd://me:secret@127.0.0.1:1,127.0.0.1:2", store: "s")
      let error = try #require(storeError { _ = try RecordStore(at: folder, sharedBy: log) })
      #expect(error.code == .unreachable && !error.description.contains("secret"))
      #expect(error.description.contains("127.0.0.1:1") && error.description.contains("127.0.0.1:2"))
    }
  }
}
