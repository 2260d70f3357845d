import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBBrowse

/// Who is let in: the tab that opened the printed link, and nobody else.
@Suite struct EntranceTests {
  private static let pages = ["/", "/?a=b", "/pages/index.html", "/pages/app.js", "/pages/base.css"]
  /// All that tells something of the store.
  private static let routes =
    ["store", "events", "predicate?table=todo", "tables/todo"].map { "/api/" + $0 }
    + ["records", "record?id=1", "place?id=1", "picture?id=1&field=a", "check", "values?field=a"].map {
      "/api/tables/todo/" + $0
    }
  private static let writes =
    ["/api/tables", "/api/undo", "/api/redo", "/api/parse"]
    + [
      "add", "set", "delete", "duplicate", "move", "sort", "paste", "repair", "export", "present", "column",
      "rename-column", "drop-column",
    ].map {
      "/api/tables/todo/" + $0
    }

  @Test func foreignHostIsRefusedOnEveryRoute() async throws {
    try await withTemporaryServer { _, port, invitation throws in
      let hosts =
        [
          "evil.com", "127.0.0.1.evil.com:\(port)", "127.0.0.1:\(port).evil.com", "127.0.0.1", "localhost",
          "evil-127.0.0.1:\(port)", "evil@127.0.0.1:\(port)",
          "127.0.0.1:\(port + 1)", "[::1]:\(port)", "0.0.0.0:\(port)", "",
        ].map { ["Host: \($0)"] } + [
          [], ["Host: 127.0.0.1:\(port)", "Host: evil.com"], ["Host: evil.com", "Host: 127.0.0.1:\(port)"],
        ]
      for headers in hosts {
        let all = headers + ["Origin: http://127.0.0.1:\(port)", "Authorization: Bearer \(invitation)"]
        for (method, paths) in [("GET", Self.pages + Self.routes), ("POST", Self.writes + ["/api/token"])] {
          for path in paths {
            let answer = try RawConnection(port: port).answer(to: method, path, all)
            // A request without a host is none, or with two.
            #expect([400, 403].contains(answer.status), "\(headers) \(path): \(answer)")
          }
        }
      }
      // The link is still good.
      #expect(try RawConnection(port: port).enter("localhost:\(port)", with: invitation).status == 200)
    }
  }

  /// On Linux, 127.0.0.2 is this machine as well, and nobody listens there but who listens everywhere.
  @Test func serverListensOnOneAddress() async throws {
    try await withTemporaryServer { _, port, _ throws in
      #expect(throws: RawConnection.Ended.self) { try RawConnection(port: port, address: 0x7F00_0002) }
      _ = try RawConnection(port: port)
    }
  }

  @Test func nothingOfTheStoreIsServedWithoutTheToken() async throws {
    try await withBrowsedStore { browsed throws in
      let (token, host) = (browsed.token, ["Host: \(browsed.host)"])
      let headers: [[String]] =
        [
          "", token, "Bearer", "Bearer ", "Bearer \(token.dropLast())", "Bearer \(token)0",
          "Bearer  \(token)",
          "Bearer \(token.dropLast())x", "Bearer \(token), Bearer \(token)", "Basic \(token)",
          "Bearer \(token)\u{301}", "Bearer \(browsed.invitation)",
        ].map { ["Authorization: \($0)"] } + [
          [], ["Authorization: Bearer \(token)", "Authorization: Bearer \(token)"],
          ["Cookie: filedb-token=\(token); token=\(token); filedb-\(browsed.port)=\(token)"],
          ["X-FileDB-Write: \(token)"],
        ]
      let paths =
        Self.routes + Self.routes.map { $0 + ($0.contains("?") ? "&" : "?") + "token=\(token)" }
        + ["/nothing", "/api/nothing", "/%61pi/store", "//api/store", "/pages", "/api/../pages/app.js"]
      for headers in headers {
        for (method, paths) in [("GET", paths), ("HEAD", paths), ("POST", Self.writes + Self.pages + paths)] {
          for path in paths {
            let all = host + ["Origin: http://\(browsed.host)", "Content-Type: application/json"] + headers
            let answer = try RawConnection(port: browsed.port).answer(to: method, path, all)
            #expect(answer.status == 403, "\(method) \(path) \(headers): \(answer.text)")
            #expect(!answer.text.contains("Milk"))
          }
        }
      }
      #expect(try browsed.list("/api/tables/todo/records") == ["1", "2", "3"])
    }
  }

  /// They hold nothing of a store.
  @Test func pagesAreServedToEverybody() async throws {
    try await withBrowsedStore { browsed throws in
      for page in Self.pages {
        for method in ["GET", "HEAD"] {
          let answer = try RawConnection(port: browsed.port).answer(
            to: method, page, ["Host: \(browsed.host)"])
          #expect(answer.status == 200, "\(page)")
          for secret in [browsed.token, browsed.invitation, "todo", browsed.store.url.path] {
            #expect(!answer.text.contains(secret), "\(page)")
          }
        }
      }
      for path in [
        "/pages/../api/store", "/pages/%2e%2e/api/store", "/pages/..%2fapi%2fstore", "/pages//api/store",
      ] {
        let answer = try RawConnection(port: browsed.port).answer(to: "GET", path, ["Host: \(browsed.host)"])
        #expect(answer.status == 404, "\(path)")
      }
    }
  }

  @Test func tokenIsGivenOutOnce() async throws {
    try await withTemporaryServer { _, port, invitation throws in
      let host = "127.0.0.1:\(port)"
      let wrong = ["", String(repeating: "0", count: 64), invitation + "0", String(invitation.dropLast())]
      for text in wrong {
        #expect(try RawConnection(port: port).enter(host, with: text).status == 403, "\(text)")
      }
      // Some programs look at a link before they open it.
      let (origin, bearing) = ("Origin: http://\(host)", "Authorization: Bearer \(invitation)")
      for (method, path, headers) in [
        ("GET", "/", [origin, bearing]), ("GET", "/?token=\(invitation)", [origin]),
        ("GET", "/api/token", [origin, bearing]), ("HEAD", "/api/token", [origin, bearing]),
        ("POST", "/api/token", [bearing]), ("POST", "/api/token?token=\(invitation)", [origin]),
      ] {
        let answer = try RawConnection(port: port).answer(to: method, path, ["Host: \(host)"] + headers)
        #expect(answer.status == (path.hasPrefix("/api") ? 403 : 200), "\(method) \(path) \(headers)")
        #expect(!answer.text.contains(#""token""#))
      }
      let answers = Mutex<[RawAnswer?]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        let answer = try? RawConnection(port: port).enter(host, with: invitation)
        answers.withLock { $0.append(answer) }
      }
      #expect(
        answers.withLock { $0.map { $0?.status ?? 0 }.sorted() } == [200] + Array(repeating: 403, count: 7))
      let again = try RawConnection(port: port).enter(host, with: invitation)
      #expect(again.status == 403 && again.text.contains("works once"))
    }
  }

  /// The targets of requests are what logs and lists of processes show.
  @Test func noAddressAndNoAnswerHoldsTheToken() async throws {
    try await withBrowsedStore { browsed throws in
      let url = browsed.server.url
      #expect(url.query == nil && url.path == "/" && url.fragment == "token=\(browsed.invitation)")
      #expect(browsed.token != browsed.invitation)
      for path in Self.pages + Self.routes where path != "/api/events" {
        let answer = try browsed.get(path)
        #expect(!answer.text.contains(browsed.token), "\(path)")
        #expect(!answer.headers.values.contains { $0.contains(browsed.token) }, "\(path)")
      }
    }
  }

  /// Browsers send the cookies of a host to the servers on all of its ports, whoever runs them.
  @Test func noCookieIsSet() async throws {
    try await withTemporaryServer { _, port, invitation throws in
      let (host, origin) = ("Host: 127.0.0.1:\(port)", "Origin: http://127.0.0.1:\(port)")
      let entrance = try RawConnection(port: port).enter("127.0.0.1:\(port)", with: invitation)
      let token = try #require(try entrance.token)
      #expect(entrance.headers["set-cookie"] == nil)
      for access in [[], ["Authorization: Bearer \(token)"]] {
        for (method, paths) in [
          ("GET", Self.pages + Self.routes + ["/?token=\(invitation)", "/nothing"]),
          ("HEAD", Self.pages + Self.routes), ("POST", Self.writes + ["/api/token", "/"]),
        ] {
          for path in paths where path != "/api/events" || method == "HEAD" {
            let headers = [host, origin, "Content-Type: application/json"] + access
            let answer = try RawConnection(port: port).answer(to: method, path, headers)
            #expect(answer.headers["set-cookie"] == nil, "\(method) \(path)")
          }
        }
      }
    }
  }

  @Test func foreignOriginIsRefused() async throws {
    try await withBrowsedStore { browsed throws in
      let origins = [
        "http://evil.com", "null", "http://127.0.0.1.evil.com:\(browsed.port)",
        "http://127.0.0.1:\(browsed.port + 1)",
        "https://\(browsed.host)", "http://127.0.0.1", "", "http://\(browsed.host)/",
      ]
      for origin in origins {
        let get = try RawConnection(port: browsed.port).answer(
          to: "GET", "/api/store", browsed.headers + ["Origin: \(origin)"])
        #expect(get.status == 403, "\(origin)")
        let headers = browsed.writeHeaders.filter { !$0.hasPrefix("Origin") } + ["Origin: \(origin)"]
        let post = try RawConnection(port: browsed.port).answer(
          to: "POST", "/api/tables/todo/delete", headers, body: #"{"ids":["1"]}"#)
        #expect(post.status == 403, "\(origin)")
        let enter = try RawConnection(port: browsed.port).answer(to: "POST", "/api/token", headers)
        #expect(enter.status == 403 && enter.text.contains("foreignOrigin"), "\(origin)")
        for answer in [get, post, enter] {
          #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") })
        }
      }
      #expect(try browsed.store.table("todo").count == 3)
    }
  }

  @Test func writeNeedsOriginTokenAndType() async throws {
    try await withBrowsedStore { browsed throws in
      func status(without name: String, adding header: String?) throws -> Int {
        let headers = browsed.writeHeaders.filter { !$0.hasPrefix(name) } + [header].compactMap(\.self)
        return try RawConnection(port: browsed.port).answer(
          to: "POST", "/api/tables/todo/delete", headers, body: #"{"ids":["1"]}"#
        ).status
      }
      #expect(try status(without: "Origin", adding: nil) == 403)
      #expect(try status(without: "Authorization", adding: nil) == 403)
      #expect(try status(without: "Content-Type", adding: nil) == 415)
      // What a form of another site could send.
      #expect(try status(without: "Content-Type", adding: "Content-Type: text/plain") == 415)
      #expect(try browsed.store.table("todo").count == 3)
      #expect(try status(without: "Nothing", adding: nil) == 200)
      #expect(try browsed.store.table("todo").count == 2)
    }
  }

  @Test func readOnlyServerRefusesEveryWrite() async throws {
    try await withBrowsedStore(.readOnly) { browsed throws in
      let table = "/api/tables/todo"
      for (path, body) in [
        ("/api/tables", #"{"name":"new"}"#), ("/api/undo", ""), ("/api/redo", ""),
        (table + "/add", #"{"records":[{"fields":[]}],"at":{"end":true}}"#),
        (table + "/set", #"{"id":"1","fields":[["title","x"]],"expected":[]}"#),
        (table + "/delete", #"{"ids":["1"]}"#), (table + "/duplicate", #"{"ids":["1"]}"#),
        (table + "/move", #"{"ids":["1"],"to":{"end":true}}"#), (table + "/sort", #"{"by":"title"}"#),
        (table + "/paste", #"{"rows":[["x"]],"columns":["title"],"at":{"end":true}}"#),
        (table + "/column", #"{"name":"x"}"#), (table + "/rename-column", #"{"name":"title","to":"x"}"#),
        (table + "/drop-column", #"{"name":"title"}"#),
        (table + "/repair", #"{"apply":true}"#),
      ] {
        let answer = try browsed.post(path, body)
        #expect(
          answer.status == 403 && answer.text.contains(#""code":"readOnly""#), "\(path): \(answer.text)")
      }
      #expect(try browsed.list(table + "/records") == ["1", "2", "3"])
      #expect(try browsed.store.tableNames == ["todo"])
      #expect(try browsed.members("/api/store")["readOnly"] as? Bool == true)
    }
  }

  /// A server whose link was not used yet, of a store with the table `todo`.
  private func withTemporaryServer(
    _ body: @escaping @Sendable (BrowseServer, _ port: Int, _ invitation: String) throws -> Void
  ) async throws {
    try await onThread {
      try withTemporaryFolder { folder in
        let store = try RecordStore(at: folder)
        try store.table("todo").add(["title": "Milk"])
        let server = try BrowseServer(store)
        defer { server.stop() }
        let (port, invitation) = try server.entrance
        try body(server, port, invitation)
      }
    }
  }
}
