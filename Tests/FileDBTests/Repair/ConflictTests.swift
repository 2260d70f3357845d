import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Another program edits a table's file while commits are waiting in the journal.
@Suite struct ConflictTests {
  /// A file with the records 1, 2 and 3, commits that change 1, remove 2 and add 4, and an editor that changes 1 and 2.
  private func withConflict(_ body: (RecordStore, Data) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      let table = try store.table("t")
      for number in 1...3 { try table.add(["n": .integer(Int64(number))]) }
      try store.table("other").add(["n": 1])
      try store.checkpoint()
      try store.write { tx in
        try tx["t"].set(["n": 100], of: 1)
        try tx["t"].delete(2)
        try tx["t"].add(["n": 4], at: .top)
      }
      let file = try table.url
      let text = try String(contentsOf: file, encoding: .utf8)
        .replacing("<integer>1<", with: "<integer>11<").replacing("<integer>2<", with: "<integer>22<")
      try Data(text.utf8).write(to: file)
      try body(store, Data(text.utf8))
    }
  }

  /// Makes the editor change one more thing.
  private func edit(_ edited: Data, replacing old: String, with new: String, _ store: RecordStore) throws {
    let text = String(decoding: edited, as: UTF8.self)
    try #require(text.contains(old))
    try Data(text.replacing(old, with: new).utf8).write(to: store.url(of: "t"))
  }

  private func listing(_ store: RecordStore) throws -> [String] {
    try store.table("t").lastSnapshot.map { "\($0.id): \($0.fields["n"]?.integer ?? 0)" }
  }

  @Test func conflictKeepsBothSidesAndBlocksNoOtherTable() throws {
    try withConflict { store, edited in
      let file = try store.url(of: "t")
      for attempt in [
        { try store.table("t").add(["n": 5]) }, { try store.checkpoint() }, { try store.refresh() },
        { try store.repair("t") }, { _ = try RecordStore(at: store.url).table("t") },
      ] as [() throws -> Any] {
        let error = storeError { _ = try attempt() }
        #expect(error?.code == .conflict)
        #expect(error?.file == file.path)
        #expect(error?.table == "t")
        #expect(error?.message.contains("(records 1, 2)") == true, "\(error?.message ?? "")")
      }
      #expect(try store.check("t").map(\.error.code) == [StoreError.Code.conflict])
      #expect(try Data(contentsOf: file) == edited)
      #expect(try store.pendingCommits().count == 1)
      try store.table("other").add(["n": 2])
      #expect(try store.check("other").isEmpty)
    }
  }

  /// Only the commits that are in conflict stay in the journal.
  @Test func journalStaysShortBesideAConflict() throws {
    try withConflict { store, edited in
      let others = try RecordStore(at: store.url, options: store.options)
      for round in 1...3 {
        let text = String(repeating: "x", count: 100_000)
        try store.table("other").add(["n": .integer(Int64(round)), "text": .string(text)])
        #expect(storeError { try (round == 2 ? others : store).checkpoint() }?.code == .conflict)
        #expect(try store.pendingCommits().flatMap(\.changes).map(\.table) == ["t", "t", "t"])
        #expect(try Data(contentsOf: store.url.appendingPathComponent(".filedb/journal")).count <= 1 << 16)
        for store in [store, others, try RecordStore(at: store.url)] {
          try? store.refresh()
          #expect(try store.table("other").lastSnapshot.count == round + 1)
        }
      }
      #expect(try Data(contentsOf: store.url(of: "t")) == edited)
      try others.repair("t", keeping: .journal)
      for store in [store, others, try RecordStore(at: store.url)] {
        try store.refresh()
        #expect(try listing(store) == ["4: 4", "1: 100", "3: 3"])
        try store.checkInvariants()
      }
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test(arguments: [ConflictChoice.file, .journal, .both])
  func olderFilePutBackAfterARepairIsTheTable(choice: ConflictChoice) throws {
    try withConflict { store, edited in
      let former = String(decoding: edited, as: UTF8.self)
        .replacing("<integer>11<", with: "<integer>1<").replacing("<integer>22<", with: "<integer>2<")
      try store.repair("t", keeping: choice)
      try Data(former.utf8).write(to: store.url(of: "t"))
      for reader in [store, try RecordStore(at: store.url, options: store.options)] {
        try reader.refresh()
        #expect(try listing(reader) == ["1: 1", "2: 2", "3: 3"])
      }
      try store.table("t").set(["n": 5], of: 3)
      try store.checkInvariants()
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test(arguments: [ConflictChoice.journal, .both])
  func recordWithoutIDGetsIDThatNoCommitUses(choice: ConflictChoice) throws {
    try withConflict { store, edited in
      try edit(
        edited, replacing: "\t</array>", with: "\t<dict><key>n</key><integer>9</integer></dict></array>",
        store)
      try store.repair("t", keeping: choice)
      #expect(try listing(store).contains("5: 9"))
      #expect(try listing(store).contains("4: 4"))
    }
  }

  @Test func repairOfEmptiedFileKeepsCommittedRecords() throws {
    try withConflict { store, _ in
      try Data().write(to: store.url(of: "t"))
      #expect(storeError { try store.repair("t", keeping: .file) }?.code == .notATable)
      #expect(try store.repair("t", keeping: .journal).lostCount == 1)
      #expect(try listing(store) == ["4: 4", "1: 100"])
    }
  }

  @Test(arguments: [
    (ConflictChoice.file, ["1: 11", "2: 22", "3: 3"]), (.journal, ["4: 4", "1: 100", "3: 3"]),
    (.both, ["4: 4", "1: 11", "5: 100", "2: 22", "3: 3"]),
  ])
  func repairKeepsTheChosenSide(choice: ConflictChoice, expected: [String]) throws {
    try withConflict { store, edited in
      let journal = try Data(contentsOf: store.url.appendingPathComponent(".filedb/journal"))
      let plan = try store.repairPlan(for: "t", keeping: choice)
      #expect(try Data(contentsOf: store.url(of: "t")) == edited, "a plan writes nothing")
      let report = try store.repair("t", keeping: choice)
      let backups = report.backups
      #expect(report.notes == plan.notes && report.notes.count == 1)
      #expect(try backups.map { try Data(contentsOf: $0) } == [edited, journal], "nothing is lost")
      #expect(try listing(store) == expected)
      #expect(try listing(RecordStore(at: store.url)) == expected)
      try store.checkInvariants()
      let next = try store.table("t").add(["n": 9])
      #expect(next.rawValue > 4 || choice == .file)
      try store.checkNothingIsLeftBehind()
      #expect(try store.repair("t").backups.isEmpty, "what is settled is settled")
    }
  }

  @Test func missingFileIsAConflict() throws {
    try withConflict { store, _ in
      try FileManager.default.removeItem(at: store.url(of: "t"))
      #expect(storeError { _ = try store.table("t").add([:]) }?.code == .conflict)
      try store.repair("t", keeping: .journal)
      #expect(try listing(store) == ["4: 4", "1: 100"])
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test func brokenFileIsRepairedBeforeCommitsAreApplied() throws {
    try withConflict { store, edited in
      let file = try store.url(of: "t")
      let third = try #require(edited.range(of: Data("<string>3<".utf8), options: .backwards))
      try edited[..<third.lowerBound].write(to: file)
      #expect(storeError { _ = try store.table("t").add([:]) }?.code == .conflict)
      try store.repair("t", keeping: .journal)
      #expect(try listing(store).starts(with: ["4: 4", "1: 100"]))
      try store.checkNothingIsLeftBehind()
    }
  }

  @Test func renumberedRecordAvoidsIDsOfCommits() throws {
    try withConflict { store, edited in
      let text = String(decoding: edited, as: UTF8.self)
      let twice = text.replacing("<string>1</string>\n\t\t</dict>", with: "<string>3</string>\n\t\t</dict>")
      #expect(twice != text)
      // Without the index map, which would show it.
      let unindexed = twice.replacing("<key>index</key>", with: "<key>other</key>")
      try Data(unindexed.utf8).write(to: store.url(of: "t"))
      try store.repair("t", keeping: .journal)
      #expect(try listing(store) == ["4: 4", "3: 11", "5: 3", "1: 100"])
      try store.checkNothingIsLeftBehind()
    }
  }

  /// The editor gave a record the id of one that a commit adds: both are kept.
  @Test(arguments: [ConflictChoice.journal, .both])
  func recordWithIDOfCommitRegainsIDFromIndexMap(choice: ConflictChoice) throws {
    try withConflict { store, edited in
      try edit(
        edited, replacing: "<string>3</string>\n\t\t</dict>", with: "<string>4</string>\n\t\t</dict>", store)
      let repair = try store.repair("t", keeping: choice)
      #expect(repair.notes.contains { $0.contains("by the index map it is 3") })
      #expect(try Set(listing(store)).isSuperset(of: ["4: 4", "3: 3"]))
      try store.checkInvariants()
    }
  }

  @Test func editWithoutPendingCommitsIsNoConflict() throws {
    try withConflict { store, edited in
      try store.repair("t", keeping: .journal)
      try store.checkpoint()
      try edited.write(to: store.url(of: "t"))
      try store.refresh()
      #expect(try listing(store) == ["1: 11", "2: 22", "3: 3"])
      #expect(try store.table("t").add([:]) == 4)
      try store.checkInvariants()
    }
  }
}
