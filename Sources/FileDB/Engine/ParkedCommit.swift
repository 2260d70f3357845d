import FileDBEssentials
import FileDBStorage
import FileDBTables

/// A commit that waits because its table is in conflict, in a later journal than its own. So the journal that it was in
/// need not be kept. The payload is a line with the table and the commit's number, and then the commit as it was.
struct ParkedCommit {
  let table: TableKey
  let sequence: UInt64
  /// The frame that the commit was in.
  let frame: JournalFrame

  /// - Throws: ``PayloadFault`` for the line. The commit itself is not read.
  init(_ payload: ArraySlice<UInt8>) throws(PayloadFault) {
    guard let end = payload.firstIndex(of: UInt8(ascii: "\n")) else {
      throw PayloadFault(message: "a line does not end")
    }
    (table, sequence) = try LineReader.read(payload[...end]) { lines throws(PayloadFault) in
      guard try lines.beginLine() == "parked" else { throw lines.fault("a table is missing") }
      let parked = (table: try lines.table(), sequence: UInt64(try lines.number()))
      try lines.endLine()
      return parked
    }
    frame = JournalFrame(
      kind: .commit, sequence: sequence, synced: sequence, payload: payload[payload.index(after: end)...])
  }

  /// The payload of the frame in which a commit is parked.
  static func payload(of frame: JournalFrame, table: TableKey) -> [UInt8] {
    var writer = LineWriter()
    writer.beginLine("parked")
    writer.add(table)
    writer.add(frame.sequence)
    writer.endLine()
    return writer.bytes + frame.payload
  }
}
