import FileDB
import Foundation
import TestSupport
import Testing

/// Merges of small tables, one rule at a time.
@Suite struct RecordsMergeTests {
  private let base = table([1: ["a": "x", "b": "y"], 2: ["a": "z"], 3: ["a": "w"]])

  @Test func changesOfDifferentFieldsAreCombined() throws {
    let ours = base.applying(.replace(record(1, ["a": "ours", "b": "y"])))
    let theirs = base.applying(.replace(record(1, ["a": "x", "c": "theirs"])))
    let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    #expect(merge.conflicts.isEmpty)
    #expect(merge.merged.fields(of: 1) == ["a": "ours", "c": "theirs"])
  }

  @Test func fieldChangedByBothIsAConflict() throws {
    let ours = base.applying(.replace(record(1, ["a": "ours", "b": "same"])))
    let theirs = base.applying(.replace(record(1, ["b": "same"])))
    let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    #expect(merge.merged.fields(of: 1) == ["a": "ours", "b": "same"])
    let conflict = try #require(merge.conflicts.first)
    guard case .field("a", base: "x", ours: "ours", theirs: nil) = conflict.kind, merge.conflicts.count == 1
    else {
      Issue.record("\(merge.conflicts)")
      return
    }
    #expect(conflict.record == 1)
  }

  @Test func deletionYieldsToChangeAsConflict() throws {
    let deleted = base.applying(.remove([2]))
    let changed = base.applying(.replace(record(2, ["a": "new"])))
    let byTheirs = try RecordsMerge(base: base, ours: changed, theirs: deleted)
    #expect(byTheirs.merged.list == changed.list)
    guard case .deletedByTheirs(base: ["a": "z"], ours: ["a": "new"])? = byTheirs.conflicts.first?.kind else {
      Issue.record("\(byTheirs.conflicts)")
      return
    }
    let byOurs = try RecordsMerge(base: base, ours: deleted, theirs: changed)
    #expect(byOurs.merged.list == changed.list)
    guard case .deletedByOurs(base: ["a": "z"], theirs: ["a": "new"])? = byOurs.conflicts.first?.kind else {
      Issue.record("\(byOurs.conflicts)")
      return
    }
    #expect(byOurs.conflicts.map(\.record) == [2])
  }

  @Test func newRecordsWithSameIDAreBothKept() throws {
    let ours = base.applying(.insert([record(4, ["a": "ours"])], index: 3))
    let theirs = base.applying(.insert([record(4, ["a": "theirs"]), record(5, ["a": "more"])], index: 3))
    let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    #expect(merge.merged.records.ids == [1, 2, 3, 4, 6, 5])
    #expect(merge.merged.fields(of: 4) == ["a": "ours"])
    #expect(merge.merged.fields(of: 6) == ["a": "theirs"])
    #expect(merge.merged.counter == 6)
    #expect(merge.renumbered.map { [$0.oldID, $0.newID] } == [[4, 6]])
    #expect(merge.renumbered.map(\.side) == [.theirs])
    #expect(merge.conflicts.isEmpty)
  }

  @Test func identicalAdditionsBecomeOneRecord() throws {
    let added = base.applying(.insert([record(4, ["a": "same"])], index: 0))
    let merge = try RecordsMerge(base: base, ours: added, theirs: added.applying(.move(4, index: 3)))
    #expect(merge.merged.list == added.list)
    #expect(merge.renumbered.isEmpty)
  }

  /// A cherry-pick copied a record, and gave the copy a new id, because ours had given its own to another record.
  @Test(arguments: [["a": "same"], ["a": "edited"]] as [Fields])
  func copyOfAnAddedRecordIsThatRecordWhileItIsUnchanged(_ copy: Fields) throws {
    let branch = base.applying(.insert([record(4, ["a": "same"])], index: 3))
    let picked = base.applying(.insert([record(4, ["a": "ours"]), record(5, copy)], index: 3))
    let isSame = copy == ["a": "same"]
    let back = try RecordsMerge(base: base, ours: picked, theirs: branch)
    #expect(back.merged.records.ids == (isSame ? [1, 2, 3, 4, 5] : [1, 2, 3, 4, 5, 6]))
    #expect(back.renumbered.map { [$0.oldID, $0.newID] } == [[4, isSame ? 5 : 6]])
    let forth = try RecordsMerge(base: base, ours: branch, theirs: picked)
    #expect(forth.merged.records.count == back.merged.records.count)
    #expect(forth.merged.fields(of: 4) == ["a": "same"])
    #expect(back.conflicts.isEmpty && forth.conflicts.isEmpty)
  }

  @Test func equalAdditionsWhoseIDsAreFreeAreTwoRecords() throws {
    let ours = base.applying(.insert([record(4, ["a": "coffee"])], index: 3))
    let theirs = base.applying(.insert([record(5, ["a": "coffee"])], index: 3))
    #expect(try RecordsMerge(base: base, ours: ours, theirs: theirs).merged.records.ids == [1, 2, 3, 4, 5])
  }

  @Test func exhaustedIDsAreAnError() throws {
    let last = try #require(AnyRecordID(rawValue: .max))
    let ours = base.applying(.insert([record(last, ["a": "ours"])], index: 0))
    let theirs = base.applying(.insert([record(last, ["a": "theirs"])], index: 0))
    let error = storeError { _ = try RecordsMerge(base: base, ours: ours, theirs: theirs) }
    #expect(error?.code == .counterExhausted)
  }

  /// A record that an earlier merge renumbered cannot be recognized for sure once it was edited: the other side's
  /// change is not applied to the record that now has its old id.
  @Test func changeOfPossiblyRenumberedRecordIsAConflict() throws {
    let base = table([1: ["name": "X", "kind": "food", "n": 1]])
    let changed = base.applying(.replace(record(1, ["name": "X", "kind": "drink", "n": 1])))
    let other = base.applying(.replace(record(1, ["name": "Y", "kind": "food", "n": 2])))
      .applying(.insert([record(2, ["name": "X2", "kind": "food", "n": 1])], index: 1))
    let merge = try RecordsMerge(base: base, ours: other, theirs: changed)
    #expect(merge.merged.list == other.list)
    guard case .field("kind", base: "food", ours: "food", theirs: "drink") = merge.conflicts.first?.kind
    else {
      Issue.record("\(merge.conflicts)")
      return
    }
    let turned = try RecordsMerge(base: base, ours: changed, theirs: other)
    #expect(turned.merged.fields(of: 1) == ["name": "X", "kind": "drink", "n": 1])
    #expect(turned.merged.fields(of: 2) == ["name": "X2", "kind": "food", "n": 1])
    #expect(turned.conflicts.count == 2)
    // A record that is only much changed is the same one.
    let rewritten = base.applying(.replace(record(1, ["name": "Y", "kind": "food", "n": 2])))
      .applying(.insert([record(2, ["name": "Z", "kind": "food", "n": 3])], index: 1))
    let clean = try RecordsMerge(base: base, ours: rewritten, theirs: changed)
    #expect(clean.conflicts.isEmpty && clean.merged.fields(of: 1) == ["name": "Y", "kind": "drink", "n": 2])
  }

  // MARK: - Order

  @Test(arguments: [
    // Ours, theirs, merged.
    ([1, 2, 3], [3, 1, 2], [3, 1, 2]),
    ([3, 1, 2], [1, 2, 3], [3, 1, 2]),
    ([3, 1, 2], [2, 1, 3], [3, 2, 1]),  // Both sides' moves.
    ([1, 2, 3, 4], [5, 1, 2, 3], [5, 1, 2, 3, 4]),
    ([4, 1, 2, 3], [5, 1, 2, 3], [4, 5, 1, 2, 3]),  // Ours first, above and below.
    ([1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4, 5]),
    ([3, 1, 2], [1, 2, 3, 5], [3, 1, 2, 5]),  // Added at the bottom stays at the bottom.
    ([1, 3], [1, 2, 5, 3], [1, 5, 3]),  // Its neighbour is gone.
  ]) func ordersOfBothSidesAreMerged(ours: [Int64], theirs: [Int64], merged: [Int64]) throws {
    func order(_ ids: [Int64]) -> TableState {
      TableState(
        counter: 5, records: ids.map { record(AnyRecordID(rawValue: $0)!, ["n": .integer($0)]) },
        foreignKeys: PlistDictionary())
    }
    let merge = try RecordsMerge(base: order([1, 2, 3]), ours: order(ours), theirs: order(theirs))
    #expect(merge.merged.records.ids.map(\.rawValue) == merged)
    #expect(merge.conflicts.isEmpty)
  }

  // MARK: - Records that an earlier merge renumbered

  /// Theirs changes the record that ours has under a new id since the last merge; in ours its old id is another
  /// record's.
  @Test func renumberedRecordIsRecognizedByLaterMerges() throws {
    let ours = base.applying(.insert([record(4, ["a": "ours"])], index: 3))
    let theirs = base.applying(.insert([record(4, ["a": "theirs"])], index: 3))
    let first = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    let later = theirs.applying(.replace(record(4, ["a": "theirs", "b": "later"])))
      .applying(.insert([record(5, ["a": "one more"])], index: 4))
    let second = try RecordsMerge(base: theirs, ours: first.merged, theirs: later)
    #expect(second.merged.fields(of: 4) == ["a": "ours"])
    #expect(second.merged.fields(of: 5) == ["a": "theirs", "b": "later"])
    #expect(second.merged.fields(of: 6) == ["a": "one more"])
    #expect(second.conflicts.isEmpty)
    // The other way round ours takes over the numbers, so that both sides agree from then on.
    let mine = later.applying(.replace(record(4, ["a": "theirs", "b": "later", "c": "mine"])))
    let back = try RecordsMerge(base: later, ours: mine, theirs: second.merged)
    #expect(back.merged.records.ids == second.merged.records.ids)
    #expect(back.merged.fields(of: 4) == ["a": "ours"])
    #expect(back.merged.fields(of: 5) == ["a": "theirs", "b": "later", "c": "mine"])
    #expect(back.merged.fields(of: 6) == ["a": "one more"])
    #expect(back.renumbered.map(\.side) == [.ours, .ours])
    #expect(back.conflicts.isEmpty)
  }

  @Test func editedRecordIsNotMistakenForItsCopy() throws {
    let base = table([1: ["a": "x", "b": "y", "c": "z"]])
    let ours = base.applying(.insert([record(2, ["a": "x", "b": "y", "c": "z"])], index: 1))
      .applying(.replace(record(1, ["a": "edited", "b": "y", "c": "z"])))
    let theirs = base.applying(.replace(record(1, ["a": "x", "b": "theirs", "c": "z"])))
    let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    #expect(merge.merged.fields(of: 1) == ["a": "edited", "b": "theirs", "c": "z"])
    #expect(merge.merged.fields(of: 2) == ["a": "x", "b": "y", "c": "z"])
  }

  // MARK: - Beside the records

  @Test func otherRootKeysAreMerged() throws {
    func root(_ keys: PlistDictionary) -> TableState {
      TableState(counter: 0, records: [], foreignKeys: keys)
    }
    let merge = try RecordsMerge(
      base: root(["k": 1, "l": 1]), ours: root(["k": 2, "l": 2]), theirs: root(["k": 1, "l": 3, "m": 4]))
    #expect(merge.merged.foreignKeys == ["k": 2, "l": 2, "m": 4])
    #expect(merge.conflicts.count == 1)
    #expect(merge.conflicts.first?.record == nil)
  }

  @Test func mergedCounterIsHighestUnlessOneSideTruncated() throws {
    let deleted = base.applying(.insert([record(9, [:])], index: 0)).applying(.remove([9]))
    #expect(try RecordsMerge(base: base, ours: base, theirs: deleted).merged.counter == 9)
    #expect(try RecordsMerge(base: base, ours: deleted, theirs: base).merged.counter == 9)
    let truncated = base.applying(.truncate)
    #expect(try RecordsMerge(base: base, ours: truncated, theirs: base).merged.counter == 0)
    #expect(try RecordsMerge(base: base, ours: base, theirs: truncated).merged.counter == 0)
    #expect(try RecordsMerge(base: base, ours: truncated, theirs: deleted).merged.counter == 9)
  }

  @Test func snapshotsCanBeMergedThroughFiles() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let todo = try store.table("todo")
      try todo.add(["title": "Milk"])
      let base = todo.lastSnapshot
      try base.write(to: folder.appendingPathComponent("odd name"))
      try todo.add(["title": "Bread"], at: .top)
      let theirs = try TableSnapshot<Fields>(contentsOf: folder.appendingPathComponent("odd name"))
      #expect(theirs.table == "odd name")
      let merge = try TableMerge(base: base, ours: theirs, theirs: todo.lastSnapshot)
      #expect(merge.merged.map(\.fields) == todo.lastSnapshot.map(\.fields))
      try store.close()
      try merge.merged.write(to: folder.appendingPathComponent("odd name"))
      #expect(
        FileManager.default.contentsEqual(
          atPath: folder.appendingPathComponent("todo.plist").path,
          andPath: folder.appendingPathComponent("odd name").path))
    }
  }
}

private func record(_ id: AnyRecordID, _ record: Fields) -> EncodedRecord {
  EncodedRecord(id: id, fields: record)
}

private func table(_ records: KeyValuePairs<AnyRecordID, Fields>) -> TableState {
  TableState(
    counter: 0, records: records.map { EncodedRecord(id: $0.key, fields: $0.value) },
    foreignKeys: PlistDictionary())
}

extension TableState {
  fileprivate func applying(_ change: Change) -> TableState {
    var table = self
    do { try table.apply(change) } catch { Issue.record(error) }
    return table
  }

  fileprivate var list: [EncodedRecord] { Array(records) }

  fileprivate func fields(of id: AnyRecordID) -> Fields? { records.first { $0.id == id }?.fields }
}
