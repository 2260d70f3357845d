import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A store that the last version with format 2 left: a large table with commits that wait, some of them taken over from
/// an earlier journal and one with a file of records, a table in conflict, a dropped table, and steps to undo.
@Suite struct JournalFormat2Tests {
  private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Format2")

  /// What that version read from these files.
  private static let contents = [
    "large 316: 315 records, the last with n=315", "plain 2: 2 records, the last with n=2",
    "small 3: 2 records, the last with n=2",
  ]
  private static let waiting = [19, 20, 21, 22, 23]

  private func withStore(_ body: (RecordStore, _ journal: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let place = folder.appendingPathComponent("store")
      try FileManager.default.copyItem(at: Self.fixture.appendingPathComponent("tables"), to: place)
      let own = place.appendingPathComponent(".filedb")
      try FileManager.default.copyItem(at: Self.fixture.appendingPathComponent("own"), to: own)
      try body(try open(place), own.appendingPathComponent("journal"))
    }
  }

  private func open(_ place: URL) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.largeFile = 10_000
    return try RecordStore(at: place, options: options)
  }

  private func contents(of store: RecordStore) throws -> [String] {
    try store.tableNames.filter { $0 != "clash" }.map { name in
      let table = try store.table(name).lastSnapshot
      return
        "\(name) \(table.counter): \(table.count) records, the last with n=\(table.last?["n"]?.integer ?? -1)"
    }
  }

  private func format(_ journal: URL) throws -> String? {
    String(decoding: try Data(contentsOf: journal).prefix(200), as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("FileDB journal") }.map(String.init)
  }

  @Test func journalIsReadAndLeftAlone() throws {
    try withStore { store, journal in
      let before = try Data(contentsOf: journal)
      #expect(try format(journal) == "FileDB journal 2")
      #expect(try contents(of: store) == Self.contents)
      #expect(try store.pendingCommits().map { Int($0.number) } == Self.waiting)
      #expect(storeError { _ = try store.table("clash") }?.code == .conflict)
      #expect(try store.undoLog.contents().undo.count == 2)
      #expect(try store.checkJournal() == nil)
      #expect(try Data(contentsOf: journal) == before)
    }
  }

  /// The commits keep their numbers, and nobody reads the tables again.
  @Test func firstCommitGoesOnInFormat3() throws {
    try withStore { store, journal in
      let table = try store.table("plain")
      try table.add(["n": 3])
      #expect(try format(journal) == "FileDB journal 3")
      #expect(try store.pendingCommits().map { Int($0.number) } == Self.waiting + [24])
      #expect(storeError { _ = try store.table("clash") }?.code == .conflict)
      let fresh = try open(store.url)
      #expect(try contents(of: fresh)[0] == Self.contents[0] && fresh.table("plain").count == 3)
      try fresh.undoLog.undo()
      try fresh.undoLog.undo()
      #expect(try fresh.table("small").lastSnapshot.map { $0["n"]?.integer } == [1, 10])
      try fresh.repair("clash", keeping: .both)
      try fresh.checkInvariants()
    }
  }

  /// The commits of the table in conflict are parked.
  @Test func tableInConflictDoesNotKeepTheOldFormat() throws {
    try withStore { store, journal in
      #expect(storeError { try store.checkpoint() }?.code == .conflict)
      #expect(try format(journal) == "FileDB journal 3")
      #expect(try store.pendingCommits().map { Int($0.number) } == [21])
      #expect(try contents(of: store) == Self.contents)
      try store.repair("clash", keeping: .both)
      #expect(try contents(of: open(store.url)) == Self.contents)
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  /// What a version with format 3 has written is refused by name.
  @Test func journalOfAnotherFormatIsRefused() throws {
    try withStore { store, journal in
      for format in ["1", "4"] {
        let payload = Array("FileDB journal \(format)\n65536\n5eed1234\n".utf8)
        let frame = JournalFrame(kind: .start, sequence: 1, synced: 1, payload: payload[...]).bytes(salt: 0)
        try Data(frame).write(to: journal)
        let error = storeError { _ = try self.open(store.url).table("plain") }
        #expect(error?.code == .newerFormat && error?.message.contains("FileDB journal \(format)") == true)
      }
    }
  }
}
