import FileDB
import FileDBExchange
import Foundation
import GRDB

/// The records as CSV, for those who bring them in from it.
extension Sample {
  /// A file of them, with a header and without ids.
  func csv() throws -> URL {
    let file = folder.appendingPathComponent("sample.csv")
    if FileManager.default.fileExists(atPath: file.path) { return file }
    let writer = DelimitedWriter(format: .csv)
    var text = writer.line(["title", "note", "amount", "price", "due", "isDone"])
    for entry in entries {
      let values: [PlistValue] = [
        .string(entry.title), .string(entry.note), .integer(Int64(entry.amount)), .real(entry.price),
        .date(entry.due), .bool(entry.isDone),
      ]
      text += writer.line(values.map(DelimitedWriter.text(of:)))
    }
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file
  }

  /// Runs a program that brings the records of the file into something new in `scratch`.
  func importCSV(
    in scratch: String, _ program: (URL) throws -> Void, check: @escaping (URL) throws -> Void
  ) throws -> Double {
    let folder = try self.scratch(scratch)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Otherwise the first program that waits for the disk also waits for what others left in memory.
    sync()
    return try seconds(of: { try program(folder) }, check: { try check(folder) })
  }

  /// Runs a program that writes the records to a file, one a line behind their names.
  func exportCSV(in scratch: String, _ program: (URL) throws -> Void) throws -> Double {
    let file = try self.scratch(scratch).appendingPathComponent("exported.csv")
    return try seconds(
      of: { try program(file) },
      check: {
        let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
        let last = lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let title = entries.last?.title ?? ""
        try expect(lines.count == records + 1 && last.contains(title), "the exported records")
      })
  }

  /// Whether the table has the records, with their types.
  func check(_ database: URL, table: String) throws {
    let queue = try DatabaseQueue(path: database.path)
    let row = try queue.read { db in
      try Row.fetchOne(
        db,
        sql: """
          SELECT count(*), sum(typeof(amount) = 'integer'), sum(typeof(price) = 'real'), max(title) FROM \(table)
          """)
    }
    try expect(row?[0] == records && row?[1] == records && row?[2] == records, "the imported records")
    try expect(
      row?[3] == entries.map(\.title).max(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }), "a title")
  }
}
