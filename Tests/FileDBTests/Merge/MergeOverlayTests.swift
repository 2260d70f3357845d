import FileDB
import Foundation
import TestSupport
import Testing

/// Merging the user's records that override, move or delete attached ones.
@Suite struct MergeOverlayTests {
  private let ownID: AnyRecordID = 1_000_000_001

  @Test func overridesAddedByBothBecomeOne() throws {
    let ours = overlay(4, ["name": "Date", "kcal": 282], overriding: ["kcal"])
    let theirs = overlay(4, ["name": "Dates, dry", "kcal": 280], overriding: ["name"])
    for base in [table(), table(overlay(2, deleted: true))] {
      let merge = try RecordsMerge(base: base, ours: base.adding(ours), theirs: base.adding(theirs))
      let both = overlay(4, ["name": "Dates, dry", "kcal": 282], overriding: ["kcal", "name"])
      #expect(merge.merged.list == base.adding(both).list)
      #expect(merge.conflicts.isEmpty && merge.renumbered.isEmpty)
    }
  }

  /// All tombstones have the same fields, but they must not be matched by these: no merge gives them new ids.
  @Test func deletionsOfDifferentRecordsAreNotMatched() throws {
    let base = table(overlay(1, deleted: true), overlay(2, deleted: true))
    let ours = table(overlay(1, deleted: true), overlay(3, deleted: true))
    let theirs = table(overlay(4, deleted: true), overlay(2, deleted: true))
    for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
      let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
      let left = merge.merged.list.sorted { $0.id < $1.id }
      #expect(left == [overlay(3, deleted: true), overlay(4, deleted: true)])
      #expect(merge.conflicts.isEmpty && merge.renumbered.isEmpty)
    }
  }

  /// An override is matched by its id however much was changed, and never taken for one of the user's own records.
  @Test func rewrittenOverrideIsStillRecognized() throws {
    let own = overlay(ownID, ["a": 1, "b": 1])
    let base = overlay(1, ["a": 1, "b": 1], overriding: ["a"])
    let rewritten = overlay(1, ["a": 2, "b": 2], overriding: ["a", "b"])
    let theirs = overlay(1, ["a": 1, "b": 1, "c": 3], overriding: ["a", "c"])
    let merge = try RecordsMerge(base: table(base), ours: table(rewritten, own), theirs: table(theirs))
    let both = overlay(1, ["a": 2, "b": 2, "c": 3], overriding: ["a", "b", "c"])
    #expect(merge.merged.list == [both, own] && merge.conflicts.isEmpty)
    let new = try RecordsMerge(
      base: table(own), ours: table(overlay(ownID, ["a": 2, "b": 2]), base),
      theirs: table(overlay(ownID, ["a": 1, "b": 1, "c": 3])))
    #expect(new.merged.list == [overlay(ownID, ["a": 2, "b": 2, "c": 3]), base] && new.conflicts.isEmpty)
  }

  // MARK: - Fields

  @Test func unchangedSideLeavesOtherSideAsItIs() throws {
    let base = overlay(1, ["a": 1], overriding: ["a"])
    let others = [nil, overlay(1, ["a": 1, "b": 1], overriding: ["b", "a"], place: "?")]
    for other in others {
      for (base, ours, theirs) in [(base, other, base), (base, base, other), (base, other, other)] {
        let merge = try merged(base, ours, theirs)
        #expect(merge.merged.list == [other].compactMap(\.self) && merge.conflicts.isEmpty)
      }
    }
  }

  @Test func overridesAreMergedByField() throws {
    let base = overlay(1, ["a": 1, "b": 1, "c": 1, "d": 0], overriding: ["a", "b", "c"])
    // Ours undoes `a`, and theirs `b`. Each removes a field, and both change `c` to the same value.
    let ours = overlay(1, ["a": 0, "b": 1, "c": 2, "d": 0], overriding: ["b", "c", "e"])
    let theirs = overlay(1, ["a": 1, "b": 0, "c": 2], overriding: ["a", "c", "d"])
    let merge = try merged(base, ours, theirs)
    #expect(merge.merged.list == [overlay(1, ["a": 0, "b": 0, "c": 2], overriding: ["c", "d", "e"])])
    #expect(merge.conflicts.isEmpty)
  }

  @Test(arguments: [(1, 2, 3), (nil, 2, 3), (1, nil, 3), (1, 2, nil)] as [(Int64?, Int64?, Int64?)])
  func overrideChangedByBothIsAConflict(base: Int64?, ours: Int64?, theirs: Int64?) throws {
    let sides = [base, ours, theirs].map { value in
      overlay(1, value.map { ["a": .integer($0), "b": 0] } ?? ["b": 0], overriding: ["a"])
    }
    let merge = try merged(sides[0], sides[1], sides[2])
    #expect(merge.merged.list == [sides[1]])
    #expect(merge.conflicts.map(\.record) == [1])
    guard case .field("a", let baseValue, let ourValue, let theirValue)? = merge.conflicts.first?.kind else {
      Issue.record("\(merge.conflicts)")
      return
    }
    #expect([baseValue, ourValue, theirValue] == [base, ours, theirs].map { $0.map { .integer($0) } })
  }

  /// The conflict is reported although the merged table has no record for it.
  @Test func changeOfRevertedOverrideIsAConflict() throws {
    let base = overlay(1, ["a": 1], overriding: ["a"])
    let changed = overlay(1, ["a": 2], overriding: ["a"])
    let merge = try merged(base, nil, changed)
    #expect(merge.merged.list.isEmpty)
    guard case .field("a", base: 1, ours: nil, theirs: 2)? = merge.conflicts.first?.kind else {
      Issue.record("\(merge.conflicts)")
      return
    }
    #expect(merge.conflicts.map(\.record) == [1])
    let turned = try merged(base, changed, nil)
    #expect(turned.merged.list == [changed] && turned.conflicts.count == 1)
  }

  @Test func fieldsWithoutOverrideComeFromOurs() throws {
    let (ours, theirs) = (["a": 1, "old": "ours"] as Fields, ["b": 2, "old": "theirs"] as Fields)
    let both = try merged(nil, overlay(1, ours, overriding: ["a"]), overlay(1, theirs, overriding: ["b"]))
    #expect(both.merged.list == [overlay(1, ["a": 1, "b": 2, "old": "ours"], overriding: ["a", "b"])])
    let moved = try merged(nil, overlay(1, place: "top"), overlay(1, theirs, overriding: ["b"]))
    #expect(moved.merged.list == [overlay(1, theirs, overriding: ["b"], place: "top")])
  }

  @Test func recordWithNothingLeftToOverrideIsRemoved() throws {
    let base = overlay(1, ["a": 1, "b": 1], overriding: ["a", "b"], place: "top")
    let ours = overlay(1, ["a": 0, "b": 1], overriding: ["b"])
    let theirs = overlay(1, ["a": 1, "b": 0], overriding: ["a"], place: "top")
    #expect(try merged(base, ours, theirs).merged.list.isEmpty)
    let placed = overlay(1, ["a": 0, "b": 1], overriding: ["b"], place: "top")
    #expect(try merged(base, placed, theirs).merged.list == [overlay(1, place: "top")])
  }

  // MARK: - Places

  @Test(
    arguments: [
      ("2", "2", "3", "3"), ("2", "3", "2", "3"), ("2", "3", "3", "3"), ("2", "3", "top", "3"),
      (nil, nil, "3", "3"), (nil, "3", nil, "3"), (nil, "3", "top", "3"), ("2", nil, "2", nil),
      ("2", "2", nil, nil), ("2", nil, "3", nil), ("2", "3", nil, "3"),
    ] as [(String?, String?, String?, String?)])
  func placesOfBothSidesAreMerged(base: String?, ours: String?, theirs: String?, expected: String?) throws {
    // Each side also overrides a field, so that they differ in more than the place.
    func attached(_ place: String?, _ fields: Fields = ["a": 1, "c": 1], _ names: [String] = ["c"])
      -> EncodedRecord
    {
      overlay(1, fields, overriding: names, place: place)
    }
    let merge = try merged(
      attached(base), attached(ours, ["a": 2, "c": 1], ["a", "c"]), attached(theirs, ["a": 1, "c": 2]))
    #expect(merge.merged.list == [attached(expected, ["a": 2, "c": 2], ["a", "c"])])
    #expect(merge.conflicts.isEmpty)

    func own(_ place: String?, _ fields: Fields = ["a": 1, "b": 1]) -> EncodedRecord {
      overlay(ownID, fields, place: place)
    }
    for fields in [["a": 1, "b": 1], ["a": 3, "b": 1]] as [Fields] {
      let merge = try merged(own(base), own(ours, fields), own(theirs, ["a": 1, "b": 2]))
      var both = fields
      both["b"] = 2
      #expect(merge.merged.list == [own(expected, both)])
      #expect(merge.conflicts.isEmpty)
    }
    let alone = try merged(own(base), own(ours), own(theirs))
    #expect(alone.merged.list == [own(expected)] && alone.conflicts.isEmpty)
  }

  @Test func recordMovedByOneAndDeletedByOtherIsDeleted() throws {
    let (old, moved) = (["a": 1] as Fields, overlay(ownID, ["a": 1], place: "top"))
    for (ours, theirs) in [(nil, moved), (moved, nil)] as [(EncodedRecord?, EncodedRecord?)] {
      let merge = try merged(overlay(ownID, old), ours, theirs)
      #expect(merge.merged.list.isEmpty && merge.conflicts.isEmpty)
    }
  }

  @Test func ownRecordIsRecognizedByFieldsInAnyPlace() throws {
    let (one, two): (AnyRecordID, AnyRecordID) = (1_000_000_001, 1_000_000_002)
    // Added by both, and moved by one.
    let twins = try merged(nil, overlay(one, ["a": 1], place: "2"), overlay(one, ["a": 1], place: "3"))
    #expect(twins.merged.list == [overlay(one, ["a": 1], place: "2")] && twins.renumbered.isEmpty)
    // An earlier merge gave it a new id, and then it was moved.
    let merge = try RecordsMerge(
      base: table(overlay(one, ["a": 1], place: "3")),
      ours: table(overlay(one, ["a": "another"]), overlay(two, ["a": 1], place: "2")),
      theirs: table(overlay(one, ["a": 1, "b": "later"], place: "3")))
    #expect(
      merge.merged.list == [
        overlay(one, ["a": "another"]), overlay(two, ["a": 1, "b": "later"], place: "2"),
      ])
    // Edited, moved and copied, it is itself.
    let base = table(overlay(one, ["a": 1, "b": 1, "c": 1], place: "3"))
    let edited = overlay(one, ["a": 1, "b": 1, "c": 2], place: "2")
    let ours = table(edited, overlay(two, ["a": 1, "b": 1, "c": 1]))
    let theirs = table(overlay(one, ["a": 1, "b": 1, "c": 1, "d": 1], place: "3"))
    let same = try RecordsMerge(base: base, ours: ours, theirs: theirs)
    #expect(same.conflicts.isEmpty && same.merged.records.count == 2)
    #expect(same.merged.list.first == overlay(one, ["a": 1, "b": 1, "c": 2, "d": 1], place: "2"))
  }

  @Test func moveOfPossiblyRenumberedRecordIsNoConflict() throws {
    let (one, two): (AnyRecordID, AnyRecordID) = (1_000_000_001, 1_000_000_002)
    let base = table(overlay(one, ["name": "X", "kind": "food", "n": 1]))
    let other = overlay(two, ["name": "X2", "kind": "food", "n": 1])
    let rewritten: Fields = ["name": "Y", "kind": "food", "n": 2]
    let moved = table(overlay(one, ["name": "X", "kind": "food", "n": 1], place: "2"))
    let merge = try RecordsMerge(base: base, ours: table(overlay(one, rewritten), other), theirs: moved)
    #expect(merge.merged.list == [other, overlay(one, rewritten, place: "2")] && merge.conflicts.isEmpty)
    let changed = table(overlay(one, ["name": "X", "kind": "drink", "n": 1], place: "2"))
    let both = try RecordsMerge(
      base: base, ours: table(overlay(one, rewritten, place: "3"), other), theirs: changed)
    #expect(both.merged.list == [overlay(one, rewritten, place: "3"), other])
    #expect(both.conflicts.count == 1)
  }

  @Test func recordsBehindSameNeighbourKeepFileOrder() throws {
    let (x, y, z): (AnyRecordID, AnyRecordID, AnyRecordID) = (1_000_000_001, 1_000_000_002, 1_000_000_003)
    func own(_ id: AnyRecordID, behind place: String) -> EncodedRecord {
      overlay(id, ["id": .integer(id.rawValue)], place: place)
    }
    let base = table(own(x, behind: "1"), own(y, behind: "2"), own(z, behind: "2"))
    // With no other record between the two in the file: x is after y because y moves before it.
    let moved = table(own(y, behind: "2"), own(x, behind: "2"), own(z, behind: "2"))
    let aside = table(own(y, behind: "2"), own(z, behind: "2"), own(x, behind: "1"))
    for (ours, theirs) in [(moved, aside), (aside, moved)] {
      let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
      #expect(merge.merged.list == moved.list)
    }
    // What theirs adds after it stays after it.
    let new = overlay(1_000_000_004, ["new": true], place: "2")
    let added = table(own(y, behind: "2"), own(x, behind: "2"), new, own(z, behind: "2"))
    #expect(try RecordsMerge(base: base, ours: aside, theirs: added).merged.list == added.list)
  }

  /// When two records have changed places in the file, the one whose position changed is the one that was moved.
  @Test func onlyRecordWithNewPositionCountsAsMoved() throws {
    let (x, y, new): (AnyRecordID, AnyRecordID, AnyRecordID) = (1_000_000_001, 1_000_000_002, 1_000_000_003)
    func own(_ id: AnyRecordID, behind place: String) -> EncodedRecord {
      overlay(id, ["id": .integer(id.rawValue)], place: place)
    }
    func ids(_ ours: TableState, _ theirs: TableState, since base: TableState) throws -> [AnyRecordID] {
      try RecordsMerge(base: base, ours: ours, theirs: theirs).merged.records.ids
    }
    let upper = table(own(x, behind: "2"), own(y, behind: "1"))
    let raised = table(own(y, behind: "2"), own(x, behind: "2"))
    let above = table(own(new, behind: "2"), own(x, behind: "2"), own(y, behind: "1"))
    #expect(try ids(raised, above, since: upper) == [y, new, x])
    #expect(try ids(above, raised, since: upper) == [new, y, x])
    let lower = table(own(y, behind: "1"), own(x, behind: "2"))
    let sunk = table(own(x, behind: "2"), own(y, behind: "2"))
    let below = table(own(y, behind: "1"), own(x, behind: "2"), own(new, behind: "2"))
    #expect(try ids(sunk, below, since: lower) == [x, y, new])
    #expect(try ids(below, sunk, since: lower) == [x, new, y])
  }

  // MARK: - Deletions

  @Test func recordDeletedByOneAndNotChangedByOtherIsDeleted() throws {
    let gone = overlay(1, deleted: true)
    let (base, moved) = (overlay(1, ["a": 1], overriding: ["a"]), overlay(1, place: "top"))
    // A side that moved it or undid its changes loses nothing.
    let others: [(EncodedRecord?, EncodedRecord?)] = [
      (nil, nil), (base, base), (nil, moved), (base, nil), (base, moved), (moved, nil),
      (base, overlay(1, ["a": 1], overriding: ["a"], place: "top")),
      (base, overlay(1, ["a": 1, "b": "the next version's"], overriding: ["a"])),
    ]
    for (base, other) in others {
      for (ours, theirs) in [(gone, other), (other, gone)] {
        let merge = try merged(base, ours, theirs)
        #expect(merge.merged.list == [gone] && merge.conflicts.isEmpty)
      }
    }
    #expect(try merged(base, gone, gone).merged.list == [gone])
    #expect(try merged(gone, gone, gone).merged.list == [gone])
  }

  @Test func restoredRecordStaysRestored() throws {
    let gone = overlay(1, deleted: true)
    let changed = overlay(1, ["a": 1], overriding: ["a"])
    for other in [nil, changed] {
      for (ours, theirs) in [(gone, other), (other, gone)] {
        let merge = try merged(gone, ours, theirs)
        #expect(merge.merged.list == [other].compactMap(\.self) && merge.conflicts.isEmpty)
      }
    }
    // A deletion that also has a place is the same.
    let placed = overlay(1, place: "top", deleted: true)
    for (ours, theirs) in [(placed, changed), (changed, placed)] {
      let merge = try merged(gone, ours, theirs)
      #expect(merge.merged.list == [overlay(1, ["a": 1], overriding: ["a"], place: "top")])
      #expect(merge.conflicts.isEmpty)
    }
    let both = try merged(gone, changed, overlay(1, ["b": 1], overriding: ["b"]))
    #expect(both.merged.list == [overlay(1, ["a": 1, "b": 1], overriding: ["a", "b"])])
  }

  @Test func deletionYieldsToChangeAsConflict() throws {
    let gone = overlay(1, deleted: true)
    let changed = overlay(1, ["a": 2, "b": 1], overriding: ["a"], place: "top")
    for base in [nil, overlay(1, ["a": 1, "b": 1], overriding: ["a"])] {
      let former = base == nil ? [:] : ["a": 1, "b": 1] as Fields
      let byOurs = try merged(base, gone, changed)
      #expect(byOurs.merged.list == [changed] && byOurs.conflicts.map(\.record) == [1])
      guard case .deletedByOurs(base: former, theirs: ["a": 2, "b": 1])? = byOurs.conflicts.first?.kind else {
        Issue.record("\(byOurs.conflicts)")
        return
      }
      let byTheirs = try merged(base, changed, gone)
      #expect(byTheirs.merged.list == [changed] && byTheirs.conflicts.map(\.record) == [1])
      guard case .deletedByTheirs(base: former, ours: ["a": 2, "b": 1])? = byTheirs.conflicts.first?.kind
      else {
        Issue.record("\(byTheirs.conflicts)")
        return
      }
    }
  }

  // MARK: - What is not an overlay

  /// A small id without metadata is an ordinary record, so it is not matched with the other side's override of that id.
  @Test func recordWithoutMetadataIsMergedAsOrdinaryRecord() throws {
    let plain = overlay(4, ["a": "plain"])
    let merge = try merged(nil, plain, overlay(4, ["a": 1], overriding: ["a"]))
    #expect(merge.merged.list == [plain, overlay(5, ["a": 1], overriding: ["a"])])
    #expect(merge.renumbered.count == 1)
    let gone = overlay(4, deleted: true)
    let changed = overlay(3, ["a": 1], overriding: ["a"])
    let mixed = try RecordsMerge(
      base: table(overlay(3, deleted: true)), ours: table(gone), theirs: table(changed, plain))
    #expect(mixed.merged.list.sorted { $0.id < $1.id } == [changed, gone, overlay(5, ["a": "plain"])])
    let moved = try merged(
      overlay(4, ["a": 1]), overlay(4, ["a": 1], place: "2"), overlay(4, ["a": 1], place: "3"))
    #expect(moved.conflicts.count == 1)
  }

  // MARK: -

  private func merged(
    _ base: EncodedRecord?, _ ours: EncodedRecord?, _ theirs: EncodedRecord?
  ) throws -> RecordsMerge {
    func side(_ record: EncodedRecord?) -> TableState { record.map { table($0) } ?? table() }
    return try RecordsMerge(base: side(base), ours: side(ours), theirs: side(theirs))
  }

  private func table(_ records: EncodedRecord...) -> TableState {
    TableState(counter: 0, records: records, foreignKeys: PlistDictionary())
  }

  private func overlay(
    _ id: AnyRecordID, _ fields: Fields = [:], overriding names: [String]? = nil, place: String? = nil,
    deleted: Bool = false
  ) -> EncodedRecord {
    var record = fields
    if let names { record["wgFileDbOverrides"] = .array(names.map { .string($0) }) }
    if let place { record["wgFileDbAfter"] = .string(place) }
    if deleted { record["wgFileDbDeleted"] = true }
    return EncodedRecord(id: id, fields: record)
  }
}

extension TableState {
  fileprivate var list: [EncodedRecord] { Array(records) }

  fileprivate func adding(_ record: EncodedRecord) -> TableState {
    TableState(counter: counter, records: Array(records) + [record], foreignKeys: foreignKeys)
  }
}
