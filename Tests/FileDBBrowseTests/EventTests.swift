import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBBrowse

/// What pages are told.
@Suite struct EventTests {
  /// A page that listens.
  private struct Listener {
    private let connection: RawConnection

    init(to browsed: BrowsedStore) throws {
      connection = try RawConnection(port: browsed.port)
      let head = ["GET /api/events HTTP/1.1"] + browsed.headers
      try connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
      _ = try connection.waits(for: ":\n\n")
    }

    /// The data of the next event of this kind.
    func next(_ event: String) throws -> [String: Any] {
      _ = try connection.waits(for: "event: \(event)\ndata: ")
      let data = try connection.waits(for: "\n\n").dropLast(2)
      return try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
    }

    func waits(for text: String) throws -> String { try connection.waits(for: text) }
  }

  @Test func changesOfOthersAreTold() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      let other = try RecordStore(at: browsed.store.url)
      try other.table("todo").update(2) { $0["title"] = "Rye" }
      let change = try listener.next("change")
      #expect(change["table"] as? String == "todo" && change["origin"] as? String == "elsewhere")
      #expect(change["ids"] as? [String] == ["2"] && change["count"] as? Int == 3)
      #expect(
        try browsed.members("/api/tables/todo/records")["version"] as? String == change["version"] as? String)
      try other.undoLog.write(named: "more") { tx in try tx["more"].add(["a": 1]) }
      let tables = try listener.waits(for: #""name":"more"}"#)
      #expect(tables.contains(#"{"name":"more","count":1,"problem":null,"attached":false}"#))
      try other.close()
    }
  }

  private final class EditedFiles: Sendable {
    let tables = Mutex<[String]>([])
  }

  @Test func editedFilesOfASharedStoreAreTold() async throws {
    let edited = EditedFiles()
    let shared = BrowseServer.SharedStore(address: "postgres://db.example/app?store=todo") {
      edited.tables.withLock(\.self)
    }
    var limits = Limits()
    limits.heartbeat = .milliseconds(20)
    try await withBrowsedStore(shared: shared, limits: limits) { browsed throws in
      let listener = try Listener(to: browsed)
      edited.tables.withLock { $0 = ["todo"] }
      _ = try listener.waits(for: #""edited":["todo"]"#)
    }
  }

  @Test func ownChangesAreToldAsSuch() async throws {
    try await withBrowsedStore { browsed throws in
      let (listener, other) = (try Listener(to: browsed), try Listener(to: browsed))
      let table = "/api/tables/todo"
      for (path, body, ids) in [
        (table + "/add", #"{"records":[{"fields":[["title","x"]]}],"at":{"end":true}}"#, ["4"]),
        (table + "/set", #"{"id":"4","fields":[["title","y"]],"expected":[]}"#, ["4"]),
        (table + "/move", #"{"ids":["4"],"to":{"start":true}}"#, ["4"]),
        (table + "/delete", #"{"ids":["4"]}"#, []),
        ("/api/undo", "", ["4"]), ("/api/redo", "", []),
        (table + "/sort", #"{"by":"title"}"#, ["1", "2"]),
        (table + "/paste", #"{"rows":[["z"]],"columns":["title"],"at":{"end":true}}"#, ["5"]),
      ] {
        let answer =
          try path == "/api/undo"
          ? browsed.takeBack("undo")
          : path == "/api/redo" ? browsed.takeBack("redo") : browsed.post(path, body)
        #expect(answer.status == 200, "\(path)")
        for listener in [listener, other] {
          let change = try listener.next("change")
          #expect(change["origin"] as? String == "here", "\(path)")
          #expect(change["ids"] as? [String] == ids, "\(path)")
        }
      }
      // After that, a change of the same record is somebody else's.
      try browsed.store.table("todo").update(5) { $0["title"] = "other" }
      #expect(try listener.next("change")["origin"] as? String == "elsewhere")
    }
  }

  @Test(arguments: [false, true]) func repairIsOwn(ofATableThatWasWhole wasWhole: Bool) async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.store.checkpoint()
      let todo = try browsed.store.table("todo").url
      let file = todo.deletingLastPathComponent().appendingPathComponent("broken.plist")
      let whole = try Data(contentsOf: todo)
      if wasWhole {
        try whole.write(to: file)
        #expect(try browsed.list("/api/tables/broken/records") == ["1", "2", "3"])
      }
      try (Data("<!-- -->".utf8) + whole.dropFirst(1)).write(to: file)
      #expect(try browsed.get("/api/tables/broken/records").status == 422)
      let listener = try Listener(to: browsed)
      #expect(try browsed.post("/api/tables/broken/repair", #"{"apply":true}"#).status == 200)
      if !wasWhole {
        let change = try listener.next("change")
        #expect(change["table"] as? String == "broken" && change["origin"] as? String == "here")
      }
      // After that, a change is somebody else's.
      try browsed.store.table("broken").update(2) { $0["title"] = "other" }
      let change = try listener.next("change")
      #expect(change["table"] as? String == "broken" && change["origin"] as? String == "elsewhere")
    }
  }

  @Test func whatADeletionTakesAlongIsOwn() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      let (folders, notes) = (try browsed.store.table("folders"), try browsed.store.table("notes"))
      let rule = ReferenceRule("folders", onDelete: .cascade)
      try folders.declare(TableSchema(fields: [FieldSchema("parent", type: .integer, references: rule)]))
      try notes.declare(TableSchema(fields: [FieldSchema("folder", type: .integer, references: rule)]))
      try folders.add(contentsOf: [[:], ["parent": 1], [:]])
      try notes.add(["folder": 2])
      while try listener.next("change")["ids"] as? [String] != ["1"] {}
      try browsed.post("/api/tables/folders/delete", #"{"ids":["1"]}"#)
      for name in ["folders", "notes"] {
        let change = try listener.next("change")
        #expect(change["table"] as? String == name && change["origin"] as? String == "here")
      }
      #expect(try folders.count == 1 && notes.count == 0)
      // What takes nothing along leaves no trace in the other table.
      try browsed.post("/api/tables/folders/delete", #"{"ids":["3"]}"#)
      #expect(try listener.next("change")["origin"] as? String == "here")
      try notes.add(["text": "by another"])
      #expect(try listener.next("change")["origin"] as? String == "elsewhere")
    }
  }

  @Test func editsOfColumnsAreOwn() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      let table = "/api/tables/todo"
      for name in ["what", "title", "what"] {
        let former = name == "what" ? "title" : "what"
        #expect(
          try browsed.post(table + "/rename-column", #"{"name":"\#(former)","to":"\#(name)"}"#).status == 200)
        #expect(try listener.next("change")["origin"] as? String == "here")
      }
      // A rule changes no record. The next change is somebody else's.
      let rules = #""type":null,"required":true,"unique":false"#
      #expect(try browsed.post(table + "/column", #"{"name":"what",\#(rules)}"#).status == 200)
      try browsed.store.table("todo").update(1) { $0["what"] = "other" }
      #expect(try listener.next("change")["origin"] as? String == "elsewhere")
    }
  }

  @Test func refusedWriteLeavesNoTrace() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      try browsed.post(
        "/api/tables/todo/set", #"{"id":"1","fields":[["title","x"]],"expected":[["title","y"]]}"#)
      try browsed.takeBack("undo")
      try browsed.post("/api/tables/todo/sort", #"{"by":"nothing"}"#)
      try browsed.store.table("todo").update(1) { $0["title"] = "x" }
      #expect(try listener.next("change")["origin"] as? String == "elsewhere")
    }
  }

  @Test func brokenTableIsTold() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      let file = browsed.store.url.appendingPathComponent("broken.plist")
      try Data("<plist>".utf8).write(to: file)
      _ = try listener.waits(for: #"{"name":"broken","count":null,"problem":""#)
      try FileManager.default.removeItem(at: file)
      _ = try listener.waits(for: #""tables":[{"name":"todo""#)
    }
  }

  @Test func manyChangedRecordsAreNotListed() async throws {
    try await withBrowsedStore { browsed throws in
      let listener = try Listener(to: browsed)
      try browsed.store.table("many").add(contentsOf: (0..<501).map { ["n": .integer($0)] })
      #expect(try listener.next("change")["ids"] is NSNull)
    }
  }

  /// Other parts of a program may keep all threads of Swift's tasks busy.
  @Test func changesAreToldWithoutTheThreadsOfTasks() async throws {
    let end = Event("the end of the test")
    let count = ProcessInfo.processInfo.activeProcessorCount * 4
    for _ in 0..<count { Task.detached { try end.wait() } }
    try await withBrowsedStore { browsed throws in
      defer { for _ in 0..<count { end.report() } }
      let listener = try Listener(to: browsed)
      try browsed.store.table("todo").add(["title": "Rye"])
      #expect(try listener.next("change")["table"] as? String == "todo")
    }
  }

  @Test func streamGivesSignsOfLife() async throws {
    var limits = Limits()
    limits.heartbeat = .milliseconds(50)
    try await withBrowsedStore(limits: limits) { browsed throws in
      let listener = try Listener(to: browsed)
      for _ in 0..<3 { _ = try listener.waits(for: ":\n\n") }
    }
  }

  @Test func stoppedServerEndsStreams() async throws {
    let port = try HeldPort()
    try await withBrowsedStore(port: port.number) { browsed throws in
      let listener = try Listener(to: browsed)
      browsed.server.stop()
      #expect(throws: RawConnection.Ended.self) { try listener.next("change") }
      #expect(throws: RawConnection.Ended.self) { try RawConnection(port: browsed.port) }
    }
  }

  @Test func storeKeepsItsPort() throws {
    let port = BrowseServer.ownPort(of: URL(fileURLWithPath: "/home/ada/notes"))
    #expect((49_152...65_535).contains(port))
    #expect(port == BrowseServer.ownPort(of: URL(fileURLWithPath: "/home/ada/notes/")))
    #expect(port != BrowseServer.ownPort(of: URL(fileURLWithPath: "/home/ada/notes2")))
  }

  @Test func takenPortOfTheStoreIsReplaced() async throws {
    try await withBrowsedStore(port: nil) { browsed throws in
      let other = try BrowseServer(browsed.store)
      defer { other.stop() }
      #expect(other.url.port != browsed.port)
    }
  }

  @Test func takenPortIsAnError() async throws {
    try await withBrowsedStore { browsed throws in
      let error = #expect(throws: StoreError.self) { try BrowseServer(browsed.store, port: browsed.port) }
      #expect(error?.message == "the server cannot listen on port \(browsed.port): Address already in use")
    }
  }
}
