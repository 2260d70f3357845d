import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A store whose journal the last version with format 1 wrote: the fixture holds a change of every kind.
@Suite struct JournalFormat1Tests {
  private static let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Format1")

  /// What that version read from these files.
  private static let contents = [
    "emptied 1: ",
    "new table 5: 5 n=5 text=number 5, 3 n=3 text=number 3, 1 n=1 text=number 1",
    "old 4: 3 n=3 text=é, 4 n=4 text=four, 2 n=22 text=two & <three>",
    "truncated 0: ",
  ]

  private func withStore(_ body: (RecordStore, _ journal: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let place = folder.appendingPathComponent("store")
      let own = place.appendingPathComponent(".filedb")
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      for name in ["gone.plist", "old.plist"] {
        try FileManager.default.copyItem(
          at: Self.fixture.appendingPathComponent(name), to: place.appendingPathComponent(name))
      }
      try FileManager.default.copyItem(
        at: Self.fixture.appendingPathComponent("journal"), to: own.appendingPathComponent("journal"))
      try body(
        RecordStore(at: place, options: StoreOptions(checkpoints: .manual)),
        place.appendingPathComponent(".filedb/journal"))
    }
  }

  private func contents(of store: RecordStore) throws -> [String] {
    try store.tableNames.map { name in
      let table = try store.table(name).lastSnapshot
      let records = table.map { record in
        "\(record.id) n=\(record["n"]?.integer ?? -1) text=\(record["text"]?.string ?? "")"
      }
      return "\(name) \(table.counter): \(records.joined(separator: ", "))"
    }
  }

  @Test func journalIsReadAndLeftAlone() throws {
    try withStore { store, journal in
      let before = try Data(contentsOf: journal)
      #expect(
        before.starts(with: Data("start ".utf8))
          && before.dropFirst(64).starts(with: Data("FileDB journal 1".utf8)))
      #expect(try contents(of: store) == Self.contents)
      #expect(try store.pendingCommits().count == 7)
      #expect(try store.checkJournal() == nil)
      #expect(try Data(contentsOf: journal) == before)
    }
  }

  @Test func firstCommitMakesACheckpointAndGoesOnInFormat2() throws {
    try withStore { store, journal in
      try store.table("old").add(["n": 5, "text": "five"])
      #expect(try Data(contentsOf: journal).dropFirst(64).starts(with: Data("FileDB journal 2".utf8)))
      #expect(try store.pendingCommits().count == 1)
      var expected = Self.contents
      expected[2] = "old 5: 3 n=3 text=é, 4 n=4 text=four, 2 n=22 text=two & <three>, 5 n=5 text=five"
      #expect(try contents(of: store) == expected)
      #expect(try contents(of: RecordStore(at: store.url)) == expected)
      #expect(!FileManager.default.fileExists(atPath: store.url.appendingPathComponent("gone.plist").path))
      try store.checkInvariants()
    }
  }

  /// The commits on the table that is in conflict go over into the new journal.
  @Test func tableInConflictDoesNotKeepFormat1() throws {
    try withStore { store, journal in
      let file = try store.url(of: "old")
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data(text.replacing("<integer>2<", with: "<integer>7<").utf8).write(to: file)
      try store.table("other").add(["n": 1])
      #expect(try Data(contentsOf: journal).dropFirst(64).starts(with: Data("FileDB journal 2".utf8)))
      #expect(storeError { _ = try store.table("old") }?.code == .conflict)
      #expect(try Set(store.pendingCommits().flatMap(\.changes).map(\.table)) == ["old", "other"])
      try store.repair("old", keeping: .journal)
      #expect(try contents(of: store).contains(Self.contents[2]))
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test func checkpointWritesItsCommitsIntoTheFiles() throws {
    try withStore { store, journal in
      try store.checkpoint()
      #expect(try Data(contentsOf: journal).dropFirst(64).starts(with: Data("FileDB journal 2".utf8)))
      #expect(try contents(of: RecordStore(at: store.url)) == Self.contents)
      try store.checkNothingIsLeftBehind()
    }
  }

  /// A wrong byte anywhere is corrected or noticed. Nothing is made up.
  @Test func everyWrongByteIsNoticedAndRepaired() throws {
    let bytes = Array(try Data(contentsOf: Self.fixture.appendingPathComponent("journal")))
    let end = JournalScan(bytes, at: 0, after: nil).end
    for place in stride(from: 0, to: end, by: 97) {
      try withStore { store, journal in
        var wrong = bytes
        wrong[place] ^= 1
        try Data(wrong).write(to: journal)
        if let finding = try store.checkJournal() {
          #expect(
            [StoreError.Code.damagedJournal, StoreError.Code.newerFormat].contains(finding.error.code),
            "byte \(place)")
          if finding.error.code == .newerFormat { return }
          try store.repairJournal()
        }
        #expect(try contents(of: RecordStore(at: store.url)) == Self.contents, "byte \(place)")
      }
    }
  }
}
