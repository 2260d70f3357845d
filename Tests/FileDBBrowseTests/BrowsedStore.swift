import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// A store with a server, and a page that was let in.
struct BrowsedStore {
  let store: RecordStore
  let server: BrowseServer
  let port: Int
  /// What the link has.
  let invitation: String
  let token: String

  var host: String { "127.0.0.1:\(port)" }

  /// The headers that a page sends.
  var headers: [String] { ["Host: \(host)", "Authorization: Bearer \(token)"] }
  var writeHeaders: [String] { headers + ["Origin: http://\(host)", "Content-Type: application/json"] }

  init(_ server: BrowseServer, of store: RecordStore) throws {
    (self.server, self.store) = (server, store)
    (port, invitation) = try server.entrance
    let answer = try RawConnection(port: port).enter("127.0.0.1:\(port)", with: invitation)
    token = try #require(try answer.token)
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

  /// The names of the steps that can be undone or redone, the next one first.
  func steps(_ direction: String) throws -> [String] { try entries(direction).compactMap { $0["name"] } }

  /// Undoes or redoes the next step.
  @discardableResult
  func takeBack(_ direction: String) throws -> RawAnswer {
    let step = try entries(direction).first?["step"] ?? "none"
    return try post("/api/\(direction)", #"{"step":"\#(step)"}"#)
  }

  private func entries(_ direction: String) throws -> [[String: String]] {
    try #require(try members("/api/store")[direction] as? [[String: String]])
  }

  /// The records of a list, each as its id and its fields.
  func list(_ path: String) throws -> [String] {
    let records = try #require(try members(path)["records"] as? [[String: Any]])
    return try records.map { try #require($0["id"] as? String) }
  }
}

extension BrowseServer {
  /// What the link tells a browser.
  var entrance: (port: Int, invitation: String) {
    get throws {
      let link = try #require(
        url.absoluteString.wholeMatch(of: ##/http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})/##))
      return (try #require(Int(link.1)), String(link.2))
    }
  }
}

extension RawAnswer {
  /// The string with this name in the answer's object.
  subscript(name: String) -> String? {
    (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])?[name] as? String
  }

  /// The ids in the answer.
  var ids: [String]? {
    (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])?["ids"] as? [String]
  }

  /// The token that it gives out.
  var token: String? {
    get throws { try JSONDecoder().decode([String: String].self, from: Data(body))["token"] }
  }
}

extension RawConnection {
  /// Asks for the token, as a page does.
  func enter(_ host: String, with invitation: String) throws -> RawAnswer {
    try answer(
      to: "POST", "/api/token",
      ["Host: \(host)", "Origin: http://\(host)", "Authorization: Bearer \(invitation)"])
  }

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
  _ access: BrowseServer.Access = .readAndWrite, port: Int? = 0, shared: BrowseServer.SharedStore? = nil,
  limits: Limits = Limits(), _ body: @escaping @Sendable (BrowsedStore) throws -> Void
) async throws {
  try await onThread {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("todo").add(contentsOf: [
        ["title": "Milk", "litres": 2.0], ["title": "Bread"], ["title": "<script>alert(1)</script>"],
      ])
      let server = try BrowseServer(store, port: port, access: access, shared: shared, limits: limits)
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
