import FileDBPlist
import FuzzSupport

// Testable, for the state of a table is nobody else's matter.
@testable import FileDB
@testable import FileDBTables

// An input tells what is to be changed in three copies of a table.
@main enum FuzzMerge {
  static func main() { runFuzzer(test) }
}

private let sample: PlistValue = {
  let fields: [PlistDictionary] = (1...6).map {
    ["wgFileDbSecretId": .string("\($0)"), "n": .integer(Int64($0 % 3)), "a": "text", "b": ["x": [1]]]
  }
  let schema = TableSchema(
    version: 1,
    fields: [
      FieldSchema("n", minimum: 0, maximum: 90), FieldSchema("k", isUnique: true, references: .init("u")),
    ],
    unique: [["k", "n"]])
  return [
    "autoincrement": "9", "data": .array(fields.map { .dict($0) }), "schema": schema.plist,
    "of another": ["c": 1],
  ]
}()

private func test(_ bytes: [UInt8]) -> Bool {
  // A zero ends the changes of one copy.
  let changes = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
  guard changes.count == 3 else { return false }
  let base = sample.changed(by: changes[0])
  guard let base = table(base), let ours = table(sample.changed(by: changes[0] + changes[1])),
    let theirs = table(sample.changed(by: changes[0] + changes[2]))
  else { return false }
  checkEqualSides(base, ours)
  guard let merge = merged(base, ours, theirs), let swapped = merged(base, theirs, ours) else { return true }
  checkTable(merge.merged)
  checkTable(merge.asBase)
  checkChanges(from: ours, to: merge)
  checkSwapped(merge, swapped)
  checkSides(base, ours, theirs)
  return true
}

private func table(_ plist: PlistValue) -> TableState? {
  try? TableFile.decode(plist.document, file: "t.plist", table: "t", limits: PlistLimits())
}

/// - Returns: `nil` if there are no more ids.
private func merged(
  _ base: TableState, _ ours: TableState, _ theirs: TableState, favoring side: MergeRenumbering.Side? = nil
) -> RecordsMerge? {
  do { return try RecordsMerge(base: base, ours: ours, theirs: theirs, favoring: side) } catch {
    if error.code != .counterExhausted { fail("\(error)") }
    return nil
  }
}

/// If only one side, or both alike, changed something, the result is that side.
private func checkEqualSides(_ base: TableState, _ side: TableState) {
  for (ours, theirs) in [(side, side), (side, base), (base, side)] {
    guard let merge = merged(base, ours, theirs) else { continue }
    if !merge.merged.isSame(as: side) || !merge.conflicts.isEmpty {
      fail("base \(text(base))\nside \(text(side))\nmerged \(text(merge.merged))\n\(merge.conflicts)")
    }
  }
}

/// A table that can be written and is read alike.
private func checkTable(_ state: TableState) {
  let ids = state.records.ids
  if Set(ids).count != ids.count || ids.contains(where: { $0.rawValue > state.counter }) {
    fail("ids \(ids), counter \(state.counter)")
  }
  let bytes = TableFile.encode(state)
  guard let again = try? TableFile.decode(bytes, file: "t.plist", table: "t", limits: PlistLimits()),
    again.isSame(as: state)
  else { fail("not read again: \(text(state))") }
}

private func checkChanges(from ours: TableState, to merge: RecordsMerge) {
  var state = ours
  do {
    for change in ours.changes(to: merge.merged) { try state.apply(change) }
  } catch {
    fail("\(error) for \(text(ours))\nmerged \(text(merge.merged))")
  }
  if !state.records.elementsEqual(merge.merged.records) {
    fail("changed \(text(state))\nmerged \(text(merge.merged))")
  }
}

/// Whoever merges, the two disagree about the same.
private func checkSwapped(_ merge: RecordsMerge, _ swapped: RecordsMerge) {
  let (conflicts, others) = (subjects(merge), subjects(swapped))
  if conflicts != others {
    fail("\(conflicts)\nswapped: \(others)\n\(text(merge.merged))\n\(text(swapped.merged))")
  }
}

private func subjects(_ merge: RecordsMerge) -> Set<String> {
  Set(
    merge.conflicts.compactMap { conflict in
      switch conflict.kind {
      case .field(let name, _, _, _): "\(conflict.record?.description ?? "-").\(name)"
      case .deletedByOurs, .deletedByTheirs: "\(conflict.record?.description ?? "-")"
      case .order: "order"
      case .rule: nil
      }
    })
}

/// If one side wins, nothing but rules is left in conflict.
private func checkSides(_ base: TableState, _ ours: TableState, _ theirs: TableState) {
  for side in [MergeRenumbering.Side.ours, .theirs] {
    guard let merge = merged(base, ours, theirs, favoring: side) else { continue }
    checkTable(merge.merged)
    for conflict in merge.conflicts {
      guard case .rule = conflict.kind else { fail("\(side) wins, but: \(conflict)") }
    }
  }
}

extension TableState {
  fileprivate func isSame(as other: TableState) -> Bool {
    counter == other.counter && records.elementsEqual(other.records) && keys == other.keys
  }

  /// The root keys. A schema can be written in several ways, and a merge never lowers its version.
  private var keys: PlistDictionary {
    var keys = foreignKeys
    if var schema = schema.schema {
      schema.version = 0
      keys[TableFile.schemaKey] = schema.plist
    }
    return keys
  }
}

private func text(_ state: TableState) -> String { String(decoding: TableFile.encode(state), as: UTF8.self) }
