import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// TLS, with an etcd that takes only clients with a certificate.
@Suite(
  .enabled(if: EtcdCluster.current != nil, "needs the etcd clusters of Tests/Cluster/with-servers"))
struct EtcdSecurityTests {
  private struct Secured {
    let folder: URL
    let cluster: EtcdCluster

    var place: String {
      get throws { try String(contentsOfFile: "\(cluster.folder)/secure-endpoints", encoding: .utf8).trimmed }
    }

    func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func log(_ address: String) throws -> EtcdLog {
      try EtcdLog(address, store: "s", timeout: longestWait)
    }

    /// The address with these files.
    func address(authority: String? = "ca.pem", certificate: String? = "client") throws -> String {
      let authority = authority.map { ["cacert=\(file($0))"] } ?? []
      let client = certificate.map { ["cert=\(file("\($0).pem"))", "key=\(file("\($0).key"))"] } ?? []
      return "etcds://\(try place)/tests?" + (authority + client).joined(separator: "&")
    }

    struct Wrong {
      /// The certificate of etcd.
      let certificate: String
      let address: String
      /// What the error must contain.
      let hint: String
    }

    func wrongs() throws -> [Wrong] {
      let (right, place) = (try address(), try place)
      let plain = try EtcdAddress(cluster.address).endpoints[0].description
      return [
        Wrong(certificate: "server", address: try address(authority: "other-ca.pem"), hint: "certificate"),
        Wrong(certificate: "server", address: try address(authority: nil), hint: "certificate"),
        Wrong(certificate: "server", address: try address(authority: "none.pem"), hint: "none.pem"),
        Wrong(certificate: "server", address: try address(certificate: nil), hint: "certificate"),
        Wrong(certificate: "server", address: "etcd://\(place)/tests", hint: "etcds://"),
        Wrong(certificate: "server", address: right.replacing(place, with: plain), hint: "TLS"),
        Wrong(certificate: "other-name", address: right, hint: "127.0.0.1"),
        Wrong(certificate: "expired", address: right, hint: "expired"),
      ]
    }

    /// etcd reads its certificate again for each connection.
    func replaceCertificate(by name: String) throws {
      for ending in ["pem", "key"] {
        try Data(contentsOf: URL(fileURLWithPath: file("\(name).\(ending)"))).write(
          to: URL(fileURLWithPath: file("etcd.\(ending)")))
      }
    }
  }

  private func withSecuredEtcd(_ body: (Secured) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try runClusterScript("certificates", [folder.path])
      let options = [
        "ETCD_CERT_FILE": "etcd.pem", "ETCD_KEY_FILE": "etcd.key", "ETCD_TRUSTED_CA_FILE": "ca.pem",
      ].mapValues { folder.appendingPathComponent($0).path }
      for ending in ["pem", "key"] {
        try FileManager.default.copyItem(
          at: folder.appendingPathComponent("server.\(ending)"),
          to: folder.appendingPathComponent("etcd.\(ending)"))
      }
      let requirement = ["ETCD_CLIENT_CERT_AUTH": "true"]
      try EtcdCluster.withOneMember(options.merging(requirement) { $1 }) { cluster in
        try body(Secured(folder: folder, cluster: cluster))
      }
    }
  }

  @Test func commitsAndNewsUseTLS() throws {
    try withSecuredEtcd { etcd in
      let log = try etcd.log(etcd.address())
      try log.create()
      let user = LogUser(log)
      _ = try user.append("t") { _ in [.create, .insert([record(1)], index: 0)] }
      let again = try etcd.log(SharedAddress(try #require(log.address())).connection)
      #expect(try LogUser(again).newest("t").state.records.count == 1)
      let watch = EtcdWatch(log.client, key: log.keys.head, longestWait: .seconds(3_600))
      #expect(watch.prepare())
      _ = try user.append("t") { _ in [.insert([record(2)], index: 0)] }
      try startThread("the wait for news") { watch.wait(upTo: nil) }.wait()
    }
  }

  @Test func everyWrongCertificateIsRefused() throws {
    try withSecuredEtcd { etcd in
      let right = try etcd.address()
      _ = try etcd.log(right).make()
      for wrong in try etcd.wrongs() {
        try etcd.replaceCertificate(by: wrong.certificate)
        // Some of these are asked again until the time has run out.
        let log = try EtcdLog(wrong.address, store: "s", timeout: .milliseconds(500))
        let error = storeError { _ = try log.identity() }
        #expect(error?.code == .unreachable)
        #expect(error?.description.contains(wrong.hint) == true, "\(error as Any)")
      }
      try etcd.replaceCertificate(by: "server")
      #expect(try etcd.log(right).make().store == false, "nothing else was wrong")
    }
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
