import FileDB
import TestSupport
import Testing

/// Properties of every merge, tried on random tables.
@Suite struct MergeRandomTests {
  @Test func unchangedSideLeavesOtherSideAsItIs() throws {
    var random = SeededRandom.fromEnvironment("merge with one side")
    for _ in 0..<400 {
      // Few values, so that records are alike.
      var editor = TableEditor(values: 0...2)
      let base = editor.table(count: .random(in: 0...9, using: &random), &random)
      let side = editor.edited(base, &random)
      for (ours, theirs) in [(side, base), (base, side), (side, side)] {
        let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
        try #require(Array(merge.merged.records) == Array(side.records))
        try #require(merge.merged.counter == side.counter)
        try #require(merge.conflicts.isEmpty)
      }
      try #require(RecordsMerge(base: base, ours: side, theirs: side).renumbered.isEmpty)
    }
  }

  /// Each side edits its own part of the table, so that the merged table is the two parts, one after the other.
  @Test func changesInSeparatePartsAreAllMerged() throws {
    var random = SeededRandom.fromEnvironment("merge of changes apart")
    for _ in 0..<400 {
      var editor = TableEditor()
      let base = editor.table(count: .random(in: 1...20, using: &random), &random)
      let fence = Int.random(in: 0..<base.records.count, using: &random)
      let upper = editor.edited(base, indices: 0..<fence, &random)
      let lower = editor.edited(base, indices: fence + 1..<base.records.count, &random)
      let below = base.records.count - fence
      let expected =
        upper.records.dropLast(below).map(\.fields) + [base.records[fence].fields]
        + lower.records.dropFirst(fence + 1).map(\.fields)
      for (ours, theirs) in [(upper, lower), (lower, upper)] {
        let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
        try #require(merge.merged.records.map(\.fields) == expected)
        try #require(merge.conflicts.isEmpty)
      }
    }
  }

  /// The sides change different records, or different fields of one, and add records: merged either way, the result is
  /// the table with all these changes, except for the ids and the order of added records.
  @Test func disjointChangesAreBothApplied() throws {
    var random = SeededRandom.fromEnvironment("merge of disjoint changes")
    for _ in 0..<400 {
      var editor = TableEditor()
      let base = editor.table(count: .random(in: 0...15, using: &random), &random)
      let sides = try DisjointSides(base, &editor, &random)
      let survivors = sides.both.records.count { base.records.contains($0.id) }
      for (ours, theirs) in [(sides.ours, sides.theirs), (sides.theirs, sides.ours)] {
        let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
        try #require(merge.conflicts.isEmpty)
        let (merged, expected) = (Array(merge.merged.records), Array(sides.both.records))
        try #require(merged.prefix(survivors) == expected.prefix(survivors))
        let added = [merged, expected].map { $0.dropFirst(survivors).map { "\($0.fields)" }.sorted() }
        try #require(added[0] == added[1])
      }
    }
  }

  @Test func mergeLosesNoChange() throws {
    var random = SeededRandom.fromEnvironment("merge without loss")
    for _ in 0..<600 {
      var editor = TableEditor()
      let base = editor.table(count: .random(in: 0...12, using: &random), &random)
      let (ours, theirs) = (editor.edited(base, &random), editor.edited(base, &random))
      let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
      try #require(Set(merge.merged.records.ids).count == merge.merged.records.count)
      try #require(merge.merged.counter >= max(ours.counter, theirs.counter))
      try checkChanges(of: ours, on: .ours, since: base, in: merge)
      try checkChanges(of: theirs, on: .theirs, since: base, in: merge)
      for record in base.records where merge.merged.records.contains(record.id) {
        let deleted = [ours, theirs].filter { !$0.records.contains(record.id) }
        let kept = [ours, theirs].compactMap { side in
          side.records.index(of: record.id).map { side.records[$0] }
        }
        try #require(deleted.isEmpty || kept.contains { $0 != record }, "\(record.id) came back")
      }
    }
  }

  /// Each value that a side changed is in the merged table, or in a conflict.
  private func checkChanges(
    of side: TableState, on name: MergeRenumbering.Side, since base: TableState, in merge: RecordsMerge
  ) throws {
    for record in side.records {
      let former = base.records.index(of: record.id).map { base.records[$0] }
      if record == former { continue }
      let id = merge.renumbered.first { $0.side == name && $0.oldID == record.id }?.newID ?? record.id
      let index = try #require(merge.merged.records.index(of: id), "record \(record.id) is lost")
      let merged = merge.merged.records[index].fields
      for field in ["a", "b", "c"] where record.fields[field] != former?.fields[field] {
        if merged[field] == record.fields[field] { continue }
        let told = merge.conflicts.contains { conflict in
          guard conflict.record == id, case .field(field, _, let ours, let theirs) = conflict.kind else {
            return false
          }
          return (name == .ours ? ours : theirs) == record.fields[field]
        }
        try #require(told, "record \(record.id): '\(field)' is lost")
      }
    }
  }

  /// Both sides sort the table, edit records and add some. The result is in our order, and says so.
  @Test func sortsOfBothSidesAreAConflict() throws {
    var random = SeededRandom.fromEnvironment("merge of sorts")
    for _ in 0..<300 {
      var editor = TableEditor()
      let base = editor.table(count: .random(in: 30...60, using: &random), &random)
      var sides = [base, base]
      for index in sides.indices {
        try sides[index].apply(.reorder(base.records.ids.shuffled(using: &random)))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          try sides[index].insert(editor.record(&random), &random)
        }
      }
      let (ours, theirs) = (sides[0], sides[1])
      let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
      try #require(merge.merged.records.ids.filter(ours.records.contains) == ours.records.ids)
      let added = ours.records.count + theirs.records.count - 2 * base.records.count
      try #require(merge.merged.records.count == base.records.count + added)
      let conflict = try #require(merge.conflicts.first { if case .order = $0.kind { true } else { false } })
      guard case .order(let ids) = conflict.settlement(taking: .theirs) else {
        Issue.record("\(conflict)")
        return
      }
      let sorted = merge.merged.records.ids.ordered(as: ids)
      try #require(sorted.filter(base.records.contains) == theirs.records.ids.filter(base.records.contains))
      let favored = try RecordsMerge(base: base, ours: ours, theirs: theirs, favoring: .theirs)
      try #require(favored.merged.records.ids == sorted && favored.conflicts.isEmpty)
      // As the base of another merge, it has no order: the same two sides are in conflict, and alike ones are not.
      var settled = merge.merged
      try settled.apply(.reorder(sorted))
      let both = try RecordsMerge(base: merge.asBase, ours: settled, theirs: merge.merged)
      try #require(both.merged.records.ids == sorted && both.conflicts.count == 1)
      let alike = try RecordsMerge(base: merge.asBase, ours: merge.merged, theirs: merge.merged)
      try #require(alike.merged.records.ids == merge.merged.records.ids && alike.conflicts.isEmpty)
      try #require(alike.merged.foreignKeys.isEmpty)
    }
  }

  /// The base is a merge of two versions. Both sides go on from these, so what they disagree about was in conflict.
  @Test func baseThatIsAMergeHidesNoDifference() throws {
    var random = SeededRandom.fromEnvironment("merge of merges")
    for _ in 0..<600 {
      var editor = TableEditor()
      let first = editor.table(count: .random(in: 0...8, using: &random), &random)
      let versions = [editor.changed(first, &random), editor.changed(first, &random)]
      let base = try RecordsMerge(base: first, ours: versions[0], theirs: versions[1]).asBase
      // Each side settles every record as one of the three versions has it.
      let sides = try (0..<2).map { _ in
        var side = first
        for id in first.records.ids {
          guard let record = [first, versions[0], versions[1]].randomElement(using: &random)?.found(id)
          else {
            try side.apply(.remove([id]))
            continue
          }
          try side.apply(.replace(record))
        }
        return side
      }
      let merge = try RecordsMerge(base: base, ours: sides[0], theirs: sides[1])
      for id in first.records.ids {
        let (one, two) = (versions[0].found(id)?.fields, versions[1].found(id)?.fields)
        let (ours, theirs) = (sides[0].found(id)?.fields, sides[1].found(id)?.fields)
        let former = first.found(id)?.fields
        let told = merge.conflicts.contains { $0.record == id }
        if ours == theirs {
          try #require(!told, "record \(id): both sides have the same")
        } else if ours == nil || theirs == nil {
          let wereInConflict = one != two && one != former && two != former && (one == nil || two == nil)
          try #require(told || !wereInConflict, "record \(id): the deletion of one side is lost")
        } else if one != nil, two != nil {
          for field in ["a", "b", "c"] where ours?[field] != theirs?[field] {
            let values = [one?[field], two?[field]]
            if values[0] == values[1] || values.contains(former?[field]) { continue }
            let isTold = merge.conflicts.contains { $0.record == id && $0.isAbout(field) }
            try #require(isTold, "record \(id): '\(field)' of one side is lost")
          }
        }
      }
      for record in merge.merged.records {
        try #require(!"\(record.fields)".contains("filedb conflict"))
      }
    }
  }

  @Test func changesTurnOursIntoMergedTable() throws {
    var random = SeededRandom.fromEnvironment("merge as changes")
    for _ in 0..<400 {
      var editor = TableEditor(values: 0...2)
      let base = editor.table(count: .random(in: 0...12, using: &random), &random)
      let (ours, theirs) = (editor.edited(base, &random), editor.edited(base, &random))
      // With ours as the base, these are the difference to theirs.
      for base in [base, ours] {
        let merge = try RecordsMerge(base: base, ours: ours, theirs: theirs)
        var table = ours
        for change in ours.changes(to: merge.merged) { try table.apply(change) }
        try #require(Array(table.records) == Array(merge.merged.records))
        // No change lowers it.
        try #require(table.counter == max(ours.counter, merge.merged.counter))
      }
    }
  }
}

/// Changes of a table, each made by one of two sides, and all of them together.
private struct DisjointSides {
  private(set) var ours: TableState
  private(set) var theirs: TableState
  private(set) var both: TableState

  init(_ base: TableState, _ editor: inout TableEditor, _ random: inout SeededRandom) throws {
    (ours, theirs, both) = (base, base, base)
    for id in base.records.ids {
      switch Int.random(in: 0...4, using: &random) {
      case 0: try change(&random) { try $0.apply(.remove([id])) }
      case 1...3:
        for field in ["a", "b", "c", "d"] where Bool.random(using: &random) {
          let value = Int.random(in: 0...3, using: &random) == 0 ? nil : editor.value(&random)
          try change(&random) { try $0.set(field, value, of: id) }
        }
      default: break
      }
    }
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let record = editor.record(&random)
      try change(&random) { try $0.add(record) }
    }
  }

  private mutating func change(_ random: inout SeededRandom, _ change: (inout TableState) throws -> Void)
    throws
  {
    if Bool.random(using: &random) { try change(&ours) } else { try change(&theirs) }
    try change(&both)
  }
}

extension TableState {
  fileprivate mutating func set(_ field: String, _ value: PlistValue?, of id: AnyRecordID) throws {
    guard let index = records.index(of: id) else { return }
    var record = records[index].fields
    record[field] = value
    try apply(.replace(EncodedRecord(id: id, fields: record)))
  }

  fileprivate func found(_ id: AnyRecordID) -> EncodedRecord? { records.index(of: id).map { records[$0] } }

  fileprivate mutating func insert(_ record: Fields, _ random: inout SeededRandom) throws {
    let id = try #require(AnyRecordID(rawValue: counter + 1))
    let index = Int.random(in: 0...records.count, using: &random)
    try apply(.insert([EncodedRecord(id: id, fields: record)], index: index))
  }

  fileprivate mutating func add(_ record: Fields) throws {
    let id = try #require(AnyRecordID(rawValue: counter + 1))
    try apply(.insert([EncodedRecord(id: id, fields: record)], index: records.count))
  }
}

extension MergeConflict {
  fileprivate func isAbout(_ name: String) -> Bool {
    if case .field(name, _, _, _) = kind { true } else { false }
  }
}

/// Makes tables and changes them at random.
private struct TableEditor {
  /// `nil` for values that are never the same.
  var values: ClosedRange<Int64>?
  private var lastValue: Int64 = 0

  init(values: ClosedRange<Int64>? = nil) { self.values = values }

  mutating func table(count: Int, _ random: inout SeededRandom) -> TableState {
    let records = (1...Int64(count + 1)).dropLast().map {
      EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: record(&random))
    }
    return TableState(counter: Int64(count), records: records, foreignKeys: PlistDictionary())
  }

  /// - Parameter indices: where to change it; all if `nil`.
  mutating func edited(_ table: TableState, indices: Range<Int>? = nil, _ random: inout SeededRandom)
    -> TableState
  {
    var result = table
    let first = indices?.lowerBound ?? 0
    let below = table.records.count - (indices?.upperBound ?? table.records.count)
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let indices = first..<result.records.count - below
      if let change = change(of: result, indices, &random) {
        do { try result.apply(change) } catch { Issue.record(error) }
      }
    }
    return result
  }

  private mutating func change(
    of table: TableState, _ indices: Range<Int>, _ random: inout SeededRandom
  ) -> Change? {
    let kind = Int.random(in: 0...7, using: &random)
    guard kind > 1, let index = indices.randomElement(using: &random) else {
      let id = AnyRecordID(rawValue: table.counter + 1)!
      let new = EncodedRecord(id: id, fields: record(&random))
      return .insert([new], index: .random(in: indices.lowerBound...indices.upperBound, using: &random))
    }
    let old = table.records[index]
    switch kind {
    case 2...3: return .remove([old.id])
    case 4...5: return .move(old.id, index: indices.randomElement(using: &random) ?? index)
    default:
      var record = old.fields
      let field = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      record[field] = Int.random(in: 0...3, using: &random) == 0 ? nil : value(&random)
      return .replace(EncodedRecord(id: old.id, fields: record))
    }
  }

  /// Changes fields and deletes records, and nothing else.
  mutating func changed(_ table: TableState, _ random: inout SeededRandom) -> TableState {
    var result = table
    for id in table.records.ids {
      do {
        switch Int.random(in: 0...5, using: &random) {
        case 0: try result.apply(.remove([id]))
        case 1...3:
          for field in ["a", "b", "c"] where Bool.random(using: &random) {
            try result.set(field, Bool.random(using: &random) ? value(&random) : nil, of: id)
          }
        default: break
        }
      } catch { Issue.record(error) }
    }
    return result
  }

  mutating func record(_ random: inout SeededRandom) -> Fields {
    ["a": value(&random), "b": value(&random), "c": value(&random)]
  }

  mutating func value(_ random: inout SeededRandom) -> PlistValue {
    if let values { return .integer(.random(in: values, using: &random)) }
    lastValue += 1
    return .integer(lastValue)
  }
}
