import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// What no browser sends.
@Suite struct HostileRequestTests {
  @Test func otherMethodsAreRefused() async throws {
    try await withBrowsedStore { browsed throws in
      for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"] {
        for path in ["/", "/api/tables/todo/records"] {
          let answer = try RawConnection(port: browsed.port).answer(to: method, path, browsed.writeHeaders)
          #expect(
            answer.status == 405 && answer.headers["allow"] == "GET, HEAD, POST", "\(method): \(answer)")
          #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") })
        }
      }
      #expect(try browsed.get("/api/tables/todo/delete").status == 405)
      #expect(try browsed.post("/api/tables/todo/records", "{}").status == 405)
      let head = try RawConnection(port: browsed.port).answer(to: "HEAD", "/api/store", browsed.headers)
      #expect(head.status == 200 && head.headers["content-length"] != "0")
    }
  }

  @Test func longHeadIsRefused() async throws {
    try await withBrowsedStore { browsed throws in
      let many = (0..<2_000).map { "X-Header-\($0): value" }
      let long = ["X-Header: " + String(repeating: "x", count: 20 << 10)]
      for headers in [many, long] {
        // NIO counts headers as well.
        let all = browsed.headers + headers
        let answer = try RawConnection(port: browsed.port).answer(to: "GET", "/api/store", all)
        #expect([400, 431].contains(answer.status))
      }
      let path = "/api/store?" + String(repeating: "x", count: 20 << 10)
      #expect(try RawConnection(port: browsed.port).answer(to: "GET", path, browsed.headers).status == 431)
    }
  }

  /// Without a limit that counts before the head is read, it would fill the memory.
  @Test func endlessHeadEndsTheConnection() async throws {
    try await withBrowsedStore { browsed throws in
      let connection = try RawConnection(port: browsed.port)
      try connection.send("GET / HTTP/1.1\r\n")
      let line = [UInt8]("X-Header: \(String(repeating: "x", count: 1_000))\r\n".utf8)
      #expect(throws: RawConnection.Ended.self) { for _ in 0..<100_000 { try connection.send(line) } }
    }
  }

  /// NIO's own limit is 80 KB.
  @Test(arguments: [0, 1]) func unfinishedLongHeadEndsTheConnection(after requestCount: Int) async throws {
    var limits = Limits()
    (limits.requestTime, limits.idleTime) = (.hours(1), .hours(1))
    try await withBrowsedStore(limits: limits) { browsed throws in
      let connection = try RawConnection(port: browsed.port)
      for _ in 0..<requestCount {
        #expect(try connection.answer(to: "GET", "/api/store", browsed.headers).status == 200)
      }
      let line = "X-Header: \(String(repeating: "x", count: 1_000))\r\n"
      try connection.send("GET / HTTP/1.1\r\n" + String(repeating: line, count: 18))
      let answer = String(decoding: try connection.takeAll(), as: UTF8.self)
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431"))
    }
  }

  @Test func longBodyIsRefused() async throws {
    var limits = Limits()
    limits.bodyBytes = 100 << 10
    try await withBrowsedStore(limits: limits) { browsed throws in
      let request =
        "POST /api/tables/todo/delete HTTP/1.1\r\n" + browsed.writeHeaders.joined(separator: "\r\n")
      let announced = try RawConnection(port: browsed.port)
      try announced.send(request + "\r\nContent-Length: 102401\r\n\r\n")
      #expect(try announced.answer().status == 413)
      let chunked = try RawConnection(port: browsed.port)
      try chunked.send(request + "\r\nTransfer-Encoding: chunked\r\n\r\n")
      let piece = "400\r\n" + String(repeating: " ", count: 1_024) + "\r\n"
      for _ in 0..<101 { try chunked.send(piece) }
      #expect(try chunked.answer().status == 413)
      // Below the limit, it is read.
      let body = #"{"ids":["1"]}"# + String(repeating: " ", count: 90 << 10)
      #expect(try browsed.post("/api/tables/todo/delete", body).status == 200)
    }
  }

  @Test func thousandConnectionsKeepNobodyOut() async throws {
    OpenFiles.allowMany()
    var limits = Limits()
    limits.requestTime = .hours(1)
    try await withBrowsedStore(limits: limits) { browsed throws in
      var connections: [RawConnection] = []
      for number in 0..<1_000 {
        let connection = try RawConnection(port: browsed.port)
        // Some say nothing, and some begin a request.
        if number % 2 == 0 { try? connection.send("GET /api/store HTTP/1.1\r\nHost: ") }
        connections.append(connection)
      }
      #expect(try browsed.get("/api/store").status == 200)
      // Those that made room were closed; at most as many as are allowed are left.
      for connection in connections.prefix(1_000 - Limits().connections) { _ = try connection.takeAll() }
      #expect(try browsed.get("/api/store").status == 200)
    }
  }

  @Test func noConnectionIsTakenFromSomebodyWhoIsServed() async throws {
    var limits = Limits()
    limits.connections = 4
    limits.eventStreams = 3
    try await withBrowsedStore(limits: limits) { browsed throws in
      let streams = try (0..<3).map { _ in
        let stream = try RawConnection(port: browsed.port)
        try stream.send(
          "GET /api/events HTTP/1.1\r\n" + browsed.headers.joined(separator: "\r\n") + "\r\n\r\n")
        _ = try stream.waits(for: ":\n\n")
        return stream
      }
      let fourth = try RawConnection(port: browsed.port).answer(to: "GET", "/api/events", browsed.headers)
      #expect(fourth.status == 503)
      var idle: [RawConnection] = []
      for _ in 0..<20 {
        idle.append(try RawConnection(port: browsed.port))
        #expect(try browsed.get("/api/store").status == 200)
      }
      try browsed.store.table("todo").delete(1)
      for stream in streams { _ = try stream.waits(for: "event: change") }
    }
  }

  /// Without a limit, four of them would have all threads that read.
  @Test func readerWhoDoesNotReadIsDisconnected() async throws {
    var limits = Limits()
    limits.writeTime = .milliseconds(200)
    try await withBrowsedStore(limits: limits) { browsed throws in
      let text = PlistValue.string(String(repeating: "x", count: 100_000))
      try browsed.store.table("long").add(contentsOf: (0..<300).map { _ in ["text": text] })
      let (export, body) = (
        "POST /api/tables/long/export HTTP/1.1\r\nContent-Length: 16\r\n", #"{"format":"csv"}"#
      )
      let readers = try (0..<8).map { _ in
        let reader = try RawConnection(port: browsed.port)
        try reader.send(export + browsed.writeHeaders.joined(separator: "\r\n") + "\r\n\r\n" + body)
        return reader
      }
      #expect(try browsed.get("/api/store").status == 200)
      // To get there, it had to leave at least five of them.
      let left = readers.filter { (try? $0.answer()) == nil }
      #expect(left.count >= 5)
    }
  }

  @Test func pathsLeadNowhereElse() async throws {
    try await withBrowsedStore { browsed throws in
      let outside = browsed.store.url.deletingLastPathComponent().appendingPathComponent("\(UUID()).plist")
      try Data("secret".utf8).write(to: outside)
      defer { try? FileManager.default.removeItem(at: outside) }
      let name = outside.deletingPathExtension().lastPathComponent
      for path in [
        "/pages/../Server.swift", "/pages/%2e%2e%2fServer.swift", "/pages/..%5cServer.swift",
        "/pages//etc/passwd",
        "/pages/", "/pages", "//", "/./", "/pages/index.html/", "/pages/index.html%00.js", "/etc/passwd",
        "/pages/etc%2fpasswd", "/pages/%2fetc%2fpasswd", "/pages/0/..%2findex.html",
        "/api/tables/..%2f\(name)", "/api/tables/..%2f\(name)/records", "/api/tables/%2e%2e",
        "/api/tables/.filedb",
        "/api/tables/%00", "/api/tables//records", "/api/tables/todo%00/records",
        "/api/tables/.filedb%2fjournal/records",
        "/api/tables/todo/records/", "/API/store", "/api/store/",
      ] {
        let answer = try browsed.get(path)
        #expect([400, 404].contains(answer.status), "\(path): \(answer)")
        #expect(!answer.text.contains("secret") && !answer.text.contains("root:"))
      }
      for path in [
        "/api/tables/%ff", "/api/tables/%", "/api/tables/%4", "/api/tables/%zz", "/api/store?a=%ff",
      ] {
        #expect(try browsed.get(path).status == 400, "\(path)")
      }
      for target in ["http://evil.com/api/store", "http://\(browsed.host)/api/store", "*", "api/store"] {
        #expect(try [400, 405].contains(browsed.get(target).status), "\(target)")
      }
    }
  }

  @Test func malformedRequestsAreRefused() async throws {
    try await withBrowsedStore { browsed throws in
      let rest = "\r\n" + browsed.writeHeaders.joined(separator: "\r\n") + "\r\n"
      for request in [
        "hello\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
        // Which of the lengths counts, servers do not agree.
        "POST /api/undo HTTP/1.1\(rest)Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /api/undo HTTP/1.1\(rest)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /api/undo HTTP/1.1\(rest)Content-Length: -1\r\n\r\n",
        "GET /api/store HTTP/1.1\(rest) folded\r\n\r\n", "GET /api/store HTTP/1.1\r\nHost : x\r\n\r\n",
      ] {
        let connection = try RawConnection(port: browsed.port)
        try connection.send(request)
        let answer = String(decoding: try connection.takeAll(), as: UTF8.self)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"), "\(request.debugDescription): \(answer)")
      }
    }
  }

  /// A second request before the first is answered.
  @Test func crowdedRequestsEndTheConnection() async throws {
    try await withBrowsedStore { browsed throws in
      let request = "GET /api/store HTTP/1.1\r\n" + browsed.headers.joined(separator: "\r\n") + "\r\n\r\n"
      let connection = try RawConnection(port: browsed.port)
      try connection.send(String(repeating: request, count: 100))
      let answers = String(decoding: try connection.takeAll(), as: UTF8.self)
      #expect(answers.split(separator: "HTTP/1.1 200").count < 100)
    }
  }

  @Test func manyRequestsPassOverOneConnection() async throws {
    try await withBrowsedStore { browsed throws in
      let connection = try RawConnection(port: browsed.port)
      for _ in 0..<100 {
        #expect(try connection.answer(to: "GET", "/api/store", browsed.headers).status == 200)
        #expect(try connection.answer(to: "HEAD", "/", browsed.headers).status == 200)
        let move = #"{"ids":["1"],"to":{"end":true}}"#
        #expect(
          try connection.answer(to: "POST", "/api/tables/todo/move", browsed.writeHeaders, body: move).status
            == 200)
      }
    }
  }
}

/// Both ends of a thousand connections are in this process.
private enum OpenFiles {
  static func allowMany() {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limits = rlimit()
    getrlimit(resource, &limits)
    limits.rlim_cur = max(limits.rlim_cur, min(limits.rlim_max, 4_096))
    setrlimit(resource, &limits)
  }
}
