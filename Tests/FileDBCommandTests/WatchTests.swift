import Foundation
import TestSupport
import Testing

/// `filedb watch` beside other commands. Each test ends the program in one of its ways.
@Suite struct WatchTests {
  @Test func ndjsonHasOneObjectForEachStep() async throws {
    try await withWatch(["--format", "ndjson"]) { watch, folder in
      for (command, line) in [
        (
          "add todo title=Rent due:date=2026-12-01 --top",
          #"{"table": "todo", "kind": "insert", "id": 2, "index": 0, "new": {"due": "2026-12-01T00:00:00Z", "title": "Rent"}}"#
        ),
        (
          "set todo 1 litres:float=1.5",
          #"{"table": "todo", "kind": "update", "id": 1, "index": 1, "new": {"litres": 1.5}}"#
        ),
        ("move todo 2 --bottom", #"{"table": "todo", "kind": "move", "id": 2, "index": 1, "from": 0}"#),
        (
          "delete todo 2",
          #"{"table": "todo", "kind": "delete", "id": 2, "index": 1, "old": {"due": "2026-12-01T00:00:00Z", "title": "Rent"}}"#
        ),
      ] {
        #expect(try filedb(command.split(separator: " ").map(String.init), in: folder).status == 0)
        try await watch.waitForLine { $0 == line }
      }
      #expect(try watch.output.split(separator: "\n").count == 4)
      watch.terminate()
    }
  }

  @Test func watchWithConditionFollowsMatchingRecords() async throws {
    try await withWatch(["--format", "ndjson", "--where", "title BEGINSWITH 'R'"]) { watch, folder in
      for (command, line) in [
        ("add todo title=Bread", nil),
        (
          "set todo 1 title=Rice",
          #"{"table": "todo", "kind": "insert", "id": 1, "index": 0, "new": {"title": "Rice"}}"#
        ),
        (
          "set todo 1 title=Milk",
          #"{"table": "todo", "kind": "delete", "id": 1, "index": 0, "old": {"title": "Rice"}}"#
        ),
      ] {
        #expect(try filedb(command.split(separator: " ").map(String.init), in: folder).status == 0)
        if let line { try await watch.waitForLine { $0 == line } }
      }
      #expect(try watch.output.split(separator: "\n").count == 2)
      watch.terminate()
    }
  }

  @Test func defaultFormatPrintsChangedFields() async throws {
    try await withWatch([]) { watch, folder in
      for (command, line) in [
        ("add todo title=Rent --top", "insert 2 at index 0: title=Rent"),
        ("set todo 1 litres:float=1.5", "update 1 at index 1: litres=1.5"),
        ("unset todo 1 title", "update 1 at index 1: -title"),
        ("delete todo 2", "delete 2 from index 0"),
      ] {
        try filedb(command.split(separator: " ").map(String.init), in: folder)
        try await watch.waitForLine { $0 == line }
      }
      watch.interrupt()
    }
  }

  @Test func unreadableFileIsReportedAndWatchGoesOn() async throws {
    try await withWatch([]) { watch, folder in
      let file = folder.appendingPathComponent("todo.plist")
      let whole = try Data(contentsOf: file)
      try whole.dropLast(20).write(to: file)
      try await watch.waitForError("todo.plist")
      try Data(String(decoding: whole, as: UTF8.self).replacing("Milk", with: "Oat").utf8).write(to: file)
      try await watch.waitForLine { $0 == "update 1 at index 0: title=Oat" }
      watch.terminate()
    }
  }

  @Test func watchEndsWhenReaderLeaves() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "todo", in: folder)
      // Neither waits for a change, for none comes.
      let result = try shell("{ filedb watch todo; echo $? >status; } | true; cat status", in: folder)
      #expect(result.output == "0\n" && result.error == "watching 'todo'; ^C ends\n")
    }
  }

  @Test func watchCanBeEndedWhileReaderIsStuck() async throws {
    let unread = Pipe()
    try await withWatch(["--format", "ndjson"], output: unread) { watch, folder in
      let text = String(repeating: "A", count: 1 << 20)
      try filedb("add", "todo", "text=@-", in: folder, input: text)
      try await wait(for: "a pipe that is full") {
        var pipe = pollfd(fd: unread.fileHandleForWriting.fileDescriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&pipe, 1, 0) == 0
      }
      watch.terminate()
    }
  }

  @Test func missingTableIsAnError() throws {
    try withTemporaryFolder { folder in
      let result = try filedb("watch", "todo", in: folder)
      #expect(result.status == 1)
    }
  }

  /// Runs `filedb watch todo` beside `body`, which ends it, on a table with one record.
  private func withWatch(
    _ options: [String], output pipe: Pipe? = nil, _ body: (RunningTool, URL) async throws -> Void
  ) async throws {
    let (folder, scratch) = (try makeTemporaryFolder(), try makeTemporaryFolder())
    defer { for made in [folder, scratch] { try? FileManager.default.removeItem(at: made) } }
    try filedb("create", "todo", in: folder)
    try filedb("add", "todo", "title=Milk", in: folder)
    let watch = try RunningTool(["watch", "todo"] + options, in: folder, scratch: scratch, output: pipe)
    try await watch.waitForError("watching")
    try await body(watch, folder)
    #expect(try await watch.status() == 0)
  }
}
