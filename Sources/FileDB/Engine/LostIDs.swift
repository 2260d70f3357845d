import FileDBPlist
import FileDBStorage
import FileDBTables

/// The ids that may have been given by commits that a repair leaves out. No other record may get them.
///
/// The readable part of such a commit tells its tables and ids. A damaged id cannot be read, so the counter rises at
/// least by as many records as the lost bytes may have had.
struct LostIDs {
  private struct Piece {
    /// `nil` if any table may have been changed.
    let tables: Set<TableKey>?
    /// The highest id that can be read, or 0.
    let highest: Int64
    /// The most records that it may have had.
    let recordCount: Int
  }

  private var pieces: [Piece] = []

  /// Nobody gives so many ids. A higher number is damage, and would leave no ids for new records.
  private static let mostCredible: Int64 = 1 << 53
  /// The length of the shortest record: one without fields, and with an id of one digit.
  private static let shortestRecord = 72

  var isEmpty: Bool { pieces.isEmpty }

  /// Whether any table may have been changed.
  var mayConcernAll: Bool { pieces.contains { $0.tables == nil } }

  /// The tables that are known to have been changed.
  var tables: Set<TableKey> { pieces.reduce(into: []) { $0.formUnion($1.tables ?? []) } }

  /// Adds what a journal has instead of one or more frames.
  mutating func add(_ lost: JournalSalvage.Lost) {
    if let frame = lost.frame, frame.kind != .commit { return }
    let tables = lost.frame.flatMap { try? JournalCommit.tables(of: $0.payload) }
    add(lost.bytes, of: tables, recordCount: lost.bytes.count / Self.shortestRecord)
  }

  /// Adds a commit that is as it was written.
  mutating func add(commit payload: ArraySlice<UInt8>) {
    let file = try? JournalCommit.recordsFile(of: payload)
    add(
      payload, of: try? JournalCommit.tables(of: payload),
      recordCount: file?.count ?? payload.count / Self.shortestRecord)
  }

  /// Adds records of these tables; `nil` if the tables are unknown.
  mutating func add(records bytes: [UInt8], of tables: Set<TableKey>?) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    add(bytes[...], of: tables, recordCount: lines.count { $0.elementsEqual("\t\t<dict>".utf8) })
  }

  /// Adds records of which nothing can be read.
  mutating func add(recordCount: Int, in tables: Set<TableKey>) {
    pieces.append(Piece(tables: tables, highest: 0, recordCount: recordCount))
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>, of tables: Set<TableKey>?, recordCount: Int) {
    pieces.append(Piece(tables: tables, highest: Self.highestID(in: bytes), recordCount: recordCount))
  }

  private static func highestID(in bytes: ArraySlice<UInt8>) -> Int64 {
    let key = Array("\t\t\t<key>\(TableFile.idKey)</key>".utf8)
    let (start, end) = (Array("\t\t\t<string>".utf8), Array("</string>".utf8))
    var (highest, isID) = (0 as Int64, false)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      defer { isID = line.elementsEqual(key) }
      guard isID, line.starts(with: start), line.suffix(end.count).elementsEqual(end) else { continue }
      let digits = String(decoding: line.dropFirst(start.count).dropLast(end.count), as: UTF8.self)
      if let id = AnyRecordID(digits)?.rawValue, id <= mostCredible { highest = max(highest, id) }
    }
    return highest
  }

  /// The counter of a table with which no lost id is given again.
  /// - Parameter counter: the table's counter without the lost commits.
  func counter(of table: TableKey, after counter: Int64) -> Int64 {
    let concerned = pieces.filter { $0.tables?.contains(table) ?? true }
    let count = concerned.reduce(0) {
      min($0 + min(Int64($1.recordCount), Self.mostCredible), Self.mostCredible)
    }
    let (raised, isTooHigh) = counter.addingReportingOverflow(count)
    return max(isTooHigh ? counter : raised, concerned.map(\.highest).max() ?? 0)
  }
}
