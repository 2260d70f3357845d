import FileDB
import Foundation
import TestSupport
import Testing

/// Tables that commands read in pieces.
@Suite struct LargeTableTests {
  /// A table of more than 256 KB, and where its records are.
  private func withLargeTable(_ body: (_ folder: URL, RecordStore) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let text = String(repeating: "x", count: 100)
      try store.table("t").add(
        contentsOf: (1...3_000).map { ["n": .integer($0), "text": .string(text), "flag": "off"] })
      try store.close()
      try body(folder, store)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func commandsOnOneRecordDoWhatTheyDoInSmallTables() throws {
    try withLargeTable { folder, _ in
      #expect(try filedb("get", "t", "2000", "n", in: folder).output == "2000\n")
      #expect(try filedb("get", "t", "3001", in: folder).status == 1)
      #expect(try filedb("count", "t", in: folder).output == "3000\n")
      #expect(try filedb("move", "t", "2000", "--before", "10", in: folder).status == 0)
      #expect(try filedb("set", "t", "2000", "n:integer=-1", in: folder).status == 0)
      #expect(try filedb("add", "t", "n:integer=7", "--after", "2000", in: folder).output == "3001\n")
      #expect(try filedb("delete", "t", "9", in: folder).status == 0)
      let shown = try filedb(
        "show", "t", "--offset", "7", "--limit", "4", "--fields", "id,n", "--format", "csv", in: folder)
      #expect(shown.output == "id,n\n8,8\n2000,-1\n3001,7\n10,10\n")
      #expect(
        try filedb("show", "t", "--where", "n < 8", "--format", "ndjson", in: folder).output.contains("3001"))
      for _ in 0..<4 { #expect(try filedb("undo", in: folder).status == 0) }
      let records = try RecordStore(at: folder).table("t").snapshot().values().get()
      #expect(records.map { $0["n"] } == (1...3_000).map { .integer($0) })
    }
  }

  /// The file of such a table waits until its commits have an eighth of its size.
  @Test func commandSaysThatGitWouldCommitAnOldFile() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let text = String(repeating: "x", count: 2_000_000)
      try store.table("t").add(contentsOf: (1...9).map { ["n": .integer($0), "text": .string(text)] })
      try store.table("t").add(["n": 10])
      try store.table("small").create()
      try store.close()
      let change = ["set", "t", "10", "n:integer=7"]
      #expect(try filedb(change, in: folder).error.isEmpty)
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(".git"), withIntermediateDirectories: false)
      let note =
        "the file of 't' is behind; run 'filedb checkpoint' before you commit it in git\n"
      #expect(try filedb(change, in: folder).error == note)
      #expect(try filedb(["undo"], in: folder).error.hasSuffix(note))
      #expect(try filedb(["add", "small", "n=1"], in: folder).error.isEmpty)
    }
  }

  #if os(Linux)
    /// An editor saves when the command has opened the file, or has read some of it. The command sees the file before
    /// or after, or says that it saw neither.
    @Test(arguments: [IN_OPEN, IN_ACCESS]) func fileMayBeWrittenInPlaceWhileACommandReadsIt(event: Int32)
      throws
    {
      try withLargeTable { folder, store in
        let file = try store.url(of: "t")
        let off = try Data(contentsOf: file)
        let on = Data(String(decoding: off, as: UTF8.self).replacing(">off<", with: ">oon<").utf8)
        try #require(on.count == off.count)
        for round in 0..<30 {
          let events = inotify_init1(Int32(IN_CLOEXEC))
          defer { close(events) }
          try #require(inotify_add_watch(events, file.path, UInt32(event)) >= 0)
          let save = startThread("the editor") {
            var reading = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
            guard poll(&reading, 1, Int32(longestWait / .milliseconds(1))) == 1 else { return }
            try? FileHandle(forWritingTo: file).write(contentsOf: round % 2 == 0 ? on : off)
          }
          let result = try filedb("get", "t", "\(Int.random(in: 1...3_000))", "flag", in: folder)
          try save.wait()
          let isSeen = result.status == 0 && ["off\n", "oon\n"].contains(result.output)
          #expect(isSeen || (result.status == 75 && result.output.isEmpty), "\(result)")
        }
      }
    }

    /// The editor saves at some moment in which the command reads. Whoever is told that a record was added gets its id,
    /// and an undo happens once.
    @Test(arguments: ["add", "undo"]) func commandThatHasWrittenSaysSoWhateverHappensToTheFile(verb: String)
      throws
    {
      for moment in 0..<12 {
        try withLargeTable { folder, store in
          let file = try store.url(of: "t")
          let off = try Data(contentsOf: file)
          for n in ["1", "2"] { try filedb("add", "t", "n=\(n)", in: folder) }
          let before = try RecordStore(at: folder).table("t").count
          let events = inotify_init1(Int32(IN_CLOEXEC))
          defer { close(events) }
          try #require(inotify_add_watch(events, file.path, UInt32(IN_ACCESS | IN_OPEN)) >= 0)
          let save = startThread("the editor") {
            var buffer = [UInt8](repeating: 0, count: 16)
            for _ in 0...moment {
              var reading = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
              guard poll(&reading, 1, 500) == 1 else { return }
              _ = read(events, &buffer, buffer.count)
            }
            try? FileHandle(forWritingTo: file).write(contentsOf: off.prefix(200))
          }
          let result = try filedb(verb == "add" ? ["add", "t", "n=3"] : ["undo"], in: folder)
          try save.wait()
          let after = try? RecordStore(at: folder).table("t").count
          let isDone = result.status == 0
          #expect(
            isDone == (verb == "add" ? !result.output.isEmpty : result.error.contains("undone:")), "\(result)"
          )
          let change = isDone ? (verb == "add" ? 1 : -1) : 0
          if let after { #expect(after == before + change, "\(result)") }
        }
      }
    }
  #endif

  /// A program that stays reads the whole file, and takes in what was saved.
  @Test func watchGoesOnWhenTheFileIsWrittenInPlace() async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    let store = try RecordStore(at: folder)
    let text = String(repeating: "x", count: 100)
    try await store.table("t").add(
      contentsOf: (1...3_000).map { ["n": .integer($0), "text": .string(text)] })
    try await store.close()
    let watch = try RunningTool(["watch", "t", "--format", "ndjson"], in: folder, scratch: scratch)
    try await watch.waitForError("watching")
    let file = try store.url(of: "t")
    for (old, new) in [("2999", "-999"), ("1500", "-500")] {
      let saved = try String(contentsOf: file, encoding: .utf8)
        .replacing("<integer>\(old)<", with: "<integer>\(new)<")
      try FileHandle(forWritingTo: file).write(contentsOf: Data(saved.utf8))
      try await watch.waitForLine { $0.contains(#""n": \#(new)"#) }
    }
    watch.terminate()
    #expect(try await watch.status() == 0)
  }

  @Test func infoLooksAtTheFirstRecordsOfALargeTable() throws {
    try withLargeTable { folder, _ in
      try filedb("add", "t", "late:bool=yes", in: folder)
      let some = try filedb("info", "t", in: folder).output
      #expect(some.contains("records  3001\n") && some.contains("In the first 1,000 records"))
      #expect(
        words(of: "text", in: some).prefix(3) == ["text", "string", "1000"]
          && words(of: "late", in: some).isEmpty)
      let all = try filedb("info", "t", "--all", in: folder).output
      #expect(
        words(of: "text", in: all).prefix(3) == ["text", "string", "3000"]
          && !words(of: "late", in: all).isEmpty)
      #expect(!all.contains("In the first"))
    }
  }

  /// The line of a field.
  private func words(of field: String, in output: String) -> [Substring] {
    output.split(separator: "\n").first { $0.hasPrefix(field + " ") }?.split(separator: " ") ?? []
  }
}
