import Foundation
import TestSupport
import Testing

/// `filedb browse`. What the server answers is tested in FileDBBrowseTests.
@Suite struct BrowseTests {
  private static var address: Regex<(Substring, port: Substring, invitation: Substring, table: Substring)> {
    ##/http://127\.0\.0\.1:(?<port>\d+)/#token=(?<invitation>[0-9a-f]{64})(?<table>.*)/##
  }

  @Test func addressOpensTheStore() async throws {
    try await withBrowse(["todo", "--no-open"]) { browse, folder in
      let address = try #require(browse.output.firstMatch(of: Self.address))
      #expect(address.table == "/todo")
      let port = try #require(Int(address.port))
      let host = "Host: 127.0.0.1:\(port)\r\n"
      let entrance = try RawConnection(port: port)
      let bearing = "Origin: http://127.0.0.1:\(port)\r\nAuthorization: Bearer \(address.invitation)"
      try entrance.send("POST /api/token HTTP/1.1\r\n\(host)\(bearing)\r\n\r\n")
      let token = try #require(try entrance.answer().text.firstMatch(of: #/"token":"(\w+)"/#)).1
      let page = try RawConnection(port: port)
      try page.send("GET /api/tables/todo/records HTTP/1.1\r\n\(host)Authorization: Bearer \(token)\r\n\r\n")
      #expect(try page.answer().text.contains(#"{"id":"1","fields":[["title","Milk"]]}"#))
      browse.interrupt()
    }
  }

  @Test func systemCanEndIt() async throws {
    try await withBrowse(["--no-open", "--read-only"]) { browse, _ in
      let address = try #require(browse.output.firstMatch(of: Self.address))
      #expect(address.table.isEmpty)
      browse.terminate()
    }
  }

  #if os(Linux)
    /// Everybody on the machine can see the arguments of every program.
    @Test(arguments: ["firefox", "xdg-open"])
    func browserIsOpenedAndNoArgumentHoldsTheToken(program: String) async throws {
      let scratch = try makeTemporaryFolder()
      defer { try? FileManager.default.removeItem(at: scratch) }
      let (opener, temporary) = (
        scratch.appendingPathComponent(program), scratch.appendingPathComponent("tmp")
      )
      try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
      let script = """
        #!/bin/sh
        cd '\(scratch.path)'
        cp "$1" page
        stat -c '%a %U' "$1" "$(dirname "$1")" > modes
        cat /proc/[0-9]*/cmdline > commands 2>/dev/null
        echo "$@" > arguments.part && mv arguments.part arguments

        """
      try Data(script.utf8).write(to: opener)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener.path)
      let path = "\(scratch.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
      let browser = program == "xdg-open" ? "" : opener.path
      let environment = ["DISPLAY": ":0", "PATH": path, "BROWSER": browser, "TMPDIR": temporary.path]
      func recorded(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: scratch.appendingPathComponent(name)), as: UTF8.self)
      }
      try await withBrowse(["todo"], environment: environment) { browse, _ in
        try await wait(for: "the browser") { (try? recorded("arguments")) != nil }
        let address = try browse.output.dropLast()
        let token = try #require(address.firstMatch(of: #/[0-9a-f]{64}/#)).0
        for list in ["arguments", "commands"] { #expect(try !recorded(list).contains(token)) }
        #expect(try recorded("commands").contains(opener.path))
        #expect(try recorded("page").contains("\"0; url=\(address)\"") && address.hasSuffix("/todo"))
        #expect(try recorded("modes") == "600 \(NSUserName())\n700 \(NSUserName())\n")
        #expect(try recorded("arguments").hasPrefix(temporary.path))
        browse.terminate()
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    }

    /// The end of the terminal is a signal, which `nohup` lets a program ignore.
    @Test(arguments: [("default", 0), ("ignore", 1)])
    func closedTerminalEndsIt(action: String, isIgnored: Int) throws {
      try withTemporaryFolder { folder in
        try filedb("create", "todo", in: folder)
        let script = """
          export DISPLAY=:0 BROWSER=true TMPDIR="$PWD/.tmp"
          mkdir .tmp
          env --\(action)-signal=HUP "$0" browse > .address 2> .said &
          trap 'kill $! 2>/dev/null' EXIT
          until grep -q 'ends' .said; do sleep 0.02; done
          ls .tmp | wc -l
          echo $((0x$(sed -n 's/SigIgn:.//p' /proc/$!/status) & 1))
          kill -HUP $!
          [ \(isIgnored) = 0 ] || kill -TERM $!
          wait $!
          echo $?
          ls .tmp
          """
        let result = try run(
          "/bin/sh", ["-c", script, filedbProgram.path], in: folder, input: "", environment: [:])
        #expect(result.output == "1\n\(isIgnored)\n0\n", "\(result)")
      }
    }

    @Test func addressNamesTheTable() async throws {
      try await withBrowse(["to do", "--no-open"], table: "to do") { browse, _ in
        let address = try browse.output
        #expect(address.hasSuffix("/to%20do\n"))
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
