import Foundation
import TestSupport
import Testing

/// `filedb browse`. What the server answers is tested in FileDBBrowseTests.
@Suite struct BrowseTests {
  private static var address: Regex<(Substring, port: Substring, link: Substring, fragment: Substring)> {
    #/http://127\.0\.0\.1:(?<port>\d+)(?<link>/\?token=[0-9a-f]{64})(?<fragment>.*)/#
  }

  @Test func addressOpensTheStore() async throws {
    try await withBrowse(["todo", "--no-open"]) { browse, folder in
      let address = try #require(browse.output.firstMatch(of: Self.address))
      #expect(address.fragment == "#/todo")
      let port = try #require(Int(address.port))
      let host = "Host: 127.0.0.1:\(port)\r\n"
      let entrance = try RawConnection(port: port)
      try entrance.send("GET \(address.link) HTTP/1.1\r\n\(host)\r\n")
      let cookie = try #require(entrance.answer().headers["set-cookie"]?.split(separator: ";").first)
      let page = try RawConnection(port: port)
      try page.send("GET /api/tables/todo/records HTTP/1.1\r\n\(host)Cookie: \(cookie)\r\n\r\n")
      #expect(try page.answer().text.contains(#"{"id":"1","fields":[["title","Milk"]]}"#))
      browse.interrupt()
    }
  }

  @Test func systemCanEndIt() async throws {
    try await withBrowse(["--no-open", "--read-only"]) { browse, _ in
      let address = try #require(browse.output.firstMatch(of: Self.address))
      #expect(address.fragment.isEmpty)
      browse.terminate()
    }
  }

  #if os(Linux)
    @Test func browserIsOpened() async throws {
      let scratch = try makeTemporaryFolder()
      defer { try? FileManager.default.removeItem(at: scratch) }
      let (opener, opened) = (
        scratch.appendingPathComponent("xdg-open"), scratch.appendingPathComponent("opened")
      )
      let script =
        "#!/bin/sh\necho \"$1\" > '\(opened.path).part' && mv '\(opened.path).part' '\(opened.path)'\n"
      try Data(script.utf8).write(to: opener)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener.path)
      let path = "\(scratch.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
      try await withBrowse(["todo"], environment: ["DISPLAY": ":0", "PATH": path]) { browse, _ in
        try await wait(for: "the browser") { FileManager.default.fileExists(atPath: opened.path) }
        let address = try String(contentsOf: opened, encoding: .utf8)
        #expect(try address == browse.output && address.hasSuffix("#/todo\n"))
        browse.terminate()
      }
    }

    @Test func addressNamesTheTable() async throws {
      try await withBrowse(["to do", "--no-open"], table: "to do") { browse, _ in
        let address = try browse.output
        #expect(address.hasSuffix("#/to%20do\n"))
        browse.terminate()
      }
    }
  #endif

  @Test func mistakesAreNamed() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "todo", in: folder)
      for (words, status, message) in [
        (["browse", "tod", "--no-open"], 1, "did you mean 'todo'?"),
        (["--store", "none", "browse", "--no-open"], 66, "there is no such folder"),
        (["browse", "--port", "70000"], 64, "--port takes a number up to 65535."),
      ] as [([String], Int32, String)] {
        let result = try filedb(words, in: folder)
        #expect(result.status == status && result.error.contains(message), "\(result)")
        #expect(result.output.isEmpty)
      }
    }
  }

  /// Runs `filedb browse` beside `body`, which ends it, on a store with one record.
  private func withBrowse(
    _ options: [String], table: String = "todo", environment: [String: String] = [:],
    _ body: (RunningTool, URL) async throws -> Void
  ) async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    try filedb("create", table, in: folder)
    try filedb("add", table, "title=Milk", in: folder)
    let browse = try RunningTool(
      ["browse"] + options, in: folder, scratch: scratch, environment: environment)
    try await browse.waitForError("is in the browser; ^C ends")
    #expect(try browse.output.split(separator: "\n").count == 1)
    try await body(browse, folder)
    #expect(try await browse.status() == 0)
  }
}
