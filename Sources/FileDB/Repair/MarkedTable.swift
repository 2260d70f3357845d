import FileDBPlist
import FileDBTables

/// Merges the versions of a table in a file with git's conflict markers, record by record.
struct MarkedTable {
  let merge: RecordsMerge
  /// What was done, in words.
  let note: String

  /// - Parameters:
  ///   - versions: git's versions of the file, if it has any. They are complete, and the best to merge. But if somebody
  ///     has edited the file since, only the file has the edits.
  ///   - fault: the error of reading the file, with its place.
  ///   - floor: new ids are above this one.
  /// - Throws: ``StoreError/Code/conflictMarkers`` if there are no two tables to merge;
  ///   ``StoreError/Code/counterExhausted``.
  init(
    _ bytes: [UInt8], versions: ConflictVersions?, fault: StoreError, newIDsAbove floor: Int64,
    limits: PlistLimits
  ) throws(StoreError) {
    let reader = SidesReader(fault: fault, floor: floor, limits: limits)
    let marked = reader.sides(in: bytes)
    let (sides, base): (TableSides, TableState)
    if let known = versions.flatMap(reader.sides(of:)), !(marked?.hasNews(besides: known) ?? false) {
      (sides, base) = (known, known.base ?? (versions?.base == nil ? TableState() : known.common))
      note = "git's versions of the file were merged, record by record"
    } else if let marked {
      (sides, base) = (marked, marked.base ?? marked.common)
      note =
        marked.base == nil
        ? "the two sides between git's conflict markers were merged, record by record; what only one of them has is kept"
        : "the versions between git's conflict markers were merged, record by record"
    } else {
      throw Self.unclear(fault)
    }
    merge = try RecordsMerge(base: base, ours: sides.ours, theirs: sides.theirs)
  }

  private static func unclear(_ fault: StoreError) -> StoreError {
    let name = fault.file?.split(separator: "/").last ?? ""
    return StoreError(
      .conflictMarkers,
      "the file has git's conflict markers, and they do not enclose two versions of a table. Resolve the conflict in an "
        + "editor; or, while git has the conflict, run 'filedb git setup' and 'git checkout --merge \(name)'",
      file: fault.file, line: fault.line, table: fault.table)
  }
}

/// Three versions of a table.
private struct TableSides {
  /// `nil` if it is unknown.
  let base: TableState?
  let ours: TableState
  let theirs: TableState

  /// What both sides have in common, and so may have begun with.
  ///
  /// Ids are given in ascending order. An id below that of a record which is the same on both sides was given before
  /// the sides parted. If two records have the same higher id and are mostly different, they count as two records, and
  /// both are kept.
  var common: TableState {
    let pairs = theirs.shared(with: ours)
    let lastCommon = pairs.lazy.filter { $0.hasSameBytes(as: $1) }.map(\.0.id).max()
    let records = pairs.compactMap { other, mine -> EncodedRecord? in
      let (fields, others) = (mine.fields.dictionary, other.fields.dictionary)
      guard lastCommon.map({ other.id < $0 }) == true || AlikeRecords.isAlike(fields, others) else {
        return nil
      }
      return EncodedRecord(id: other.id, fields: Fields(fields.common(with: others)))
    }
    return TableState(
      counter: min(ours.counter, theirs.counter), records: records,
      foreignKeys: ours.foreignKeys.common(with: theirs.foreignKeys))
  }

  /// Whether these sides, which come from a file, differ from `known` in a way that merging as text cannot explain.
  /// Then somebody has edited the file.
  func hasNews(besides known: TableSides) -> Bool {
    let records = KnownRecords([known.base, known.ours, known.theirs].compactMap(\.self))
    let isGone = known.ours.records.contains { record in
      known.theirs.records.contains(record.id) && !ours.records.contains(record.id)
        && !theirs.records.contains(record.id)
    }
    return isGone || [ours, theirs].contains { $0.records.contains(where: records.isNew) }
  }
}

/// The records of all versions that git has.
private struct KnownRecords {
  private let states: [TableState]
  private let contents: Set<PlistDictionary>

  init(_ states: [TableState]) {
    self.states = states
    contents = Set(states.flatMap { state in state.records.map(\.fields.dictionary) })
  }

  /// Whether a record cannot have been put together from the versions.
  func isNew(_ record: EncodedRecord) -> Bool {
    let fields: PlistDictionary = record.fields.dictionary
    if contents.contains(fields) { return false }
    let versions: [PlistDictionary] = states.compactMap { $0.record(record.id)?.fields.dictionary }
    guard let first = versions.first else { return true }
    let hasNewValue = fields.contains { field in !versions.contains { $0[field.key] == field.value } }
    let lacksField = first.contains { field in
      fields[field.key] == nil && versions.allSatisfy { $0[field.key] != nil }
    }
    return hasNewValue || lacksField
  }
}

/// Reads versions of a table in which the same id must mean the same record.
private struct SidesReader {
  let fault: StoreError
  let floor: Int64
  let limits: PlistLimits

  /// The sides between the markers of a file.
  /// - Returns: `nil` if there is no way to read them, or more than one.
  func sides(in bytes: [UInt8]) -> TableSides? {
    let all = ConflictMarkers.readings(of: bytes).compactMap(sides(of:))
    return all.count == 1 ? all[0] : nil
  }

  /// - Returns: `nil` if one side is not a table. If the base is not a table, it counts as unknown.
  func sides(of versions: ConflictVersions) -> TableSides? {
    let all = [versions.base, versions.ours, versions.theirs].compactMap(\.self)
    // A merge as text may have left two records with the same id. The second gets a new id, the same in each version.
    let highest = all.compactMap { state(of: $0, newIDsAbove: floor)?.counter }.max() ?? 0
    guard let ours = state(of: versions.ours, newIDsAbove: highest),
      let theirs = state(of: versions.theirs, newIDsAbove: highest)
    else { return nil }
    let base = versions.base.flatMap { state(of: $0, newIDsAbove: highest) }
    return TableSides(base: base, ours: ours, theirs: theirs)
  }

  /// - Returns: `nil` if it cannot be read completely: missing records must not look deleted.
  private func state(of bytes: [UInt8], newIDsAbove floor: Int64) -> TableState? {
    // A merge as text may have put one id into the index map twice. The map is not needed here.
    guard let sound = [bytes, Self.withoutIndexMap(bytes)].first(where: isSound) else { return nil }
    let repaired = try? TableRepair.repair(
      sound, file: fault.file ?? "", table: fault.table ?? "", waiting: nil, newIDsAbove: floor,
      limits: limits)
    guard let repaired, repaired.repair.lostCount == 0 else { return nil }
    return Self.withoutCopies(repaired.state, newIDsAbove: floor)
  }

  private func isSound(_ bytes: [UInt8]) -> Bool {
    (try? PlistParser.parse(bytes, limits: limits)) != nil
  }

  private static func withoutIndexMap(_ bytes: [UInt8]) -> [UInt8] {
    let key = Array("<key>\(TableFile.indexKey)</key>".utf8)
    guard let start = bytes.ranges(of: key).last,
      let end = bytes[start.upperBound...].firstRange(of: Array("</dict>".utf8))
    else { return bytes }
    return Array(bytes[..<start.lowerBound] + bytes[end.upperBound...])
  }

  /// Removes copies: a record that one side moved may be in both places. The second copy has got a new id, and is
  /// otherwise the same.
  private static func withoutCopies(_ state: TableState, newIDsAbove floor: Int64) -> TableState {
    let new = state.records.filter { $0.id.rawValue > floor }
    if new.isEmpty { return state }
    let contents = Set(state.records.lazy.filter { $0.id.rawValue <= floor }.map(\.fields))
    let copies = new.filter { contents.contains($0.fields) }.map(\.id)
    var rest = state
    if !copies.isEmpty { try? rest.apply(.remove(copies)) }
    return rest
  }
}
