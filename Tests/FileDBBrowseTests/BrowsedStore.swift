import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// A store with a server, and a browser that was let in.
struct BrowsedStore {
  let store: RecordStore
  let server: BrowseServer
  let port: Int
  /// The path and query of the link.
  let link: String
  let cookie: String
  let writeToken: String

  var host: String { "127.0.0.1:\(port)" }

  /// The headers that a browser sends.
  var headers: [String] { ["Host: \(host)", "Cookie: \(cookie)"] }
  var writeHeaders: [String] {
    headers + ["Origin: http://\(host)", "Content-Type: application/json", "X-FileDB-Write: \(writeToken)"]
  }

  init(_ server: BrowseServer, of store: RecordStore) throws {
    (self.server, self.store) = (server, store)
    let parts = try #require(URLComponents(url: server.url, resolvingAgainstBaseURL: false))
    port = try #require(parts.port)
    link = "/?\(parts.query ?? "")"
    let host = "Host: 127.0.0.1:\(port)"
    let entrance = try RawConnection(port: port).answer(to: "GET", link, [host])
    cookie = String(entrance.headers["set-cookie"]?.prefix { $0 != ";" } ?? "")
    let overview = try RawConnection(port: port).answer(to: "GET", "/api/store", [host, "Cookie: \(cookie)"])
    let json = try JSONSerialization.jsonObject(with: Data(overview.body)) as? [String: Any]
    writeToken = try #require(json?["writeToken"] as? String)
  }

  func get(_ path: String) throws -> RawAnswer {
    try RawConnection(port: port).answer(to: "GET", path, headers)
  }

  /// The members of what a path answers.
  func members(_ path: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(get(path).body)) as? [String: Any])
  }

  @discardableResult
  func post(_ path: String, _ body: String) throws -> RawAnswer {
    try RawConnection(port: port).answer(to: "POST", path, writeHeaders, body: body)
  }

  /// The records of a list, each as its id and its fields.
  func list(_ path: String) throws -> [String] {
    let records = try #require(try members(path)["records"] as? [[String: Any]])
    return try records.map { try #require($0["id"] as? String) }
  }
}

extension RawConnection {
  func answer(
    to method: String, _ path: String, _ headers: [String], body: String = ""
  ) throws -> RawAnswer {
    var lines = ["\(method) \(path) HTTP/1.1"] + headers
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    return try answer(to: method)
  }
}

/// Runs `body` with a server of a new store that has the table `todo`.
func withBrowsedStore(
  _ access: BrowseServer.Access = .readAndWrite, port: Int = 0, limits: Limits = Limits(),
  _ body: @escaping @Sendable (BrowsedStore) throws -> Void
) async throws {
  try await onThread {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("todo").add(contentsOf: [
        ["title": "Milk", "litres": 2.0], ["title": "Bread"], ["title": "<script>alert(1)</script>"],
      ])
      let server = try BrowseServer(store, port: port, access: access, limits: limits)
      defer { server.stop() }
      try body(BrowsedStore(server, of: store))
      try store.checkInvariants()
    }
  }
}

/// Runs `body` on a thread of its own. It waits for a server, so it would block a thread of Swift's tasks.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}
