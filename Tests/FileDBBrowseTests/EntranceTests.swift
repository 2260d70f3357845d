import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// Who is let in: the browser that opened the printed link, and nobody else.
@Suite struct EntranceTests {
  private static let paths = [
    "/", "/pages/index.html", "/api/store", "/api/tables/todo", "/api/tables/todo/records", "/api/events",
    "/nothing",
  ]

  @Test func foreignHostIsRefusedOnEveryRoute() async throws {
    try await withTemporaryServer { server, port, link throws in
      let hosts =
        [
          "evil.com", "127.0.0.1.evil.com:\(port)", "127.0.0.1:\(port).evil.com", "127.0.0.1", "localhost",
          "evil-127.0.0.1:\(port)", "evil@127.0.0.1:\(port)",
          "127.0.0.1:\(port + 1)", "[::1]:\(port)", "0.0.0.0:\(port)", "",
        ].map { ["Host: \($0)"] } + [
          [], ["Host: 127.0.0.1:\(port)", "Host: evil.com"], ["Host: evil.com", "Host: 127.0.0.1:\(port)"],
        ]
      for headers in hosts {
        for path in Self.paths + [link] {
          let answer = try RawConnection(port: port).answer(to: "GET", path, headers)
          // A request without a host is none, or with two.
          #expect([400, 403].contains(answer.status), "\(headers) \(path): \(answer)")
          #expect(answer.headers["set-cookie"] == nil)
        }
      }
      // The link is still good.
      let answer = try RawConnection(port: port).answer(to: "GET", link, ["Host: localhost:\(port)"])
      #expect(answer.status == 303)
    }
  }

  /// On Linux, 127.0.0.2 is this machine as well, and nobody listens there but who listens everywhere.
  @Test func serverListensOnOneAddress() async throws {
    try await withTemporaryServer { server, port, link throws in
      #expect(throws: RawConnection.Ended.self) { try RawConnection(port: port, address: 0x7F00_0002) }
      _ = try RawConnection(port: port)
    }
  }

  @Test func nothingIsServedWithoutTheCookie() async throws {
    try await withBrowsedStore { browsed throws in
      let (name, value) = (browsed.cookie.prefix { $0 != "=" }, browsed.cookie.drop { $0 != "=" }.dropFirst())
      let cookies = [
        nil, "", "\(name)=", "\(name)=\(value.dropLast())", "\(name)=\(value)0", "\(name)1=\(value)",
        "other=\(value)",
      ]
      for path in Self.paths {
        for cookie in cookies {
          let headers = ["Host: \(browsed.host)"] + (cookie.map { ["Cookie: \($0)"] } ?? [])
          #expect(
            try RawConnection(port: browsed.port).answer(to: "GET", path, headers).status == 403, "\(path)")
        }
      }
      let writing = browsed.writeHeaders.filter { !$0.hasPrefix("Cookie") }
      let answer = try RawConnection(port: browsed.port).answer(
        to: "POST", "/api/tables/todo/delete", writing, body: #"{"ids":["1"]}"#)
      #expect(answer.status == 403 && answer.text.contains("notSignedIn"))
      // Browsers send all that they have for this host, of other ports, too.
      let several = ["Host: \(browsed.host)", "Cookie: filedb-1=x; \(browsed.cookie); a=b"]
      #expect(try RawConnection(port: browsed.port).answer(to: "GET", "/api/store", several).status == 200)
    }
  }

  @Test func linkWorksOnce() async throws {
    try await withTemporaryServer { server, port, link throws in
      let host = ["Host: 127.0.0.1:\(port)"]
      for wrong in [
        "/?token=", "/?token=\(String(repeating: "0", count: 64))", "/?", link + "0", link + "&a=b",
      ] {
        #expect(try RawConnection(port: port).answer(to: "GET", wrong, host).status == 403, "\(wrong)")
      }
      // Some programs look at a link before they open it.
      #expect(try RawConnection(port: port).answer(to: "HEAD", link, host).status == 403)
      let first = try RawConnection(port: port).answer(to: "GET", link, host)
      #expect(first.status == 303 && first.headers["location"] == "/")
      let cookie = try #require(first.headers["set-cookie"])
      #expect(cookie.hasPrefix("filedb-\(port)=") && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
      let second = try RawConnection(port: port).answer(to: "GET", link, host)
      #expect(second.status == 403 && second.headers["set-cookie"] == nil)
      #expect(second.text.contains("start it again"))
      // The browser that is in already may load it again.
      let again = host + ["Cookie: \(cookie.prefix { $0 != ";" })"]
      #expect(try RawConnection(port: port).answer(to: "GET", link, again).status == 303)
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
        for answer in [get, post] {
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
      #expect(try status(without: "X-FileDB-Write", adding: nil) == 403)
      #expect(
        try status(without: "X-FileDB-Write", adding: "X-FileDB-Write: \(browsed.writeToken.dropLast())0x")
          == 403)
      let sameLength = browsed.writeToken.dropLast() + "x"
      #expect(try status(without: "X-FileDB-Write", adding: "X-FileDB-Write: \(sameLength)") == 403)
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
        (table + "/paste", #"{"text":"x","columns":["title"],"at":{"end":true}}"#),
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

  /// A server whose link was not used yet.
  private func withTemporaryServer(
    _ body: @escaping @Sendable (BrowseServer, _ port: Int, _ link: String) throws -> Void
  ) async throws {
    try await onThread {
      try withTemporaryFolder { folder in
        let server = try BrowseServer(RecordStore(at: folder))
        defer { server.stop() }
        let parts = try #require(URLComponents(url: server.url, resolvingAgainstBaseURL: false))
        try body(server, try #require(parts.port), "/?\(parts.query ?? "")")
      }
    }
  }
}
