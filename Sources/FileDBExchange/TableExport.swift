import FileDB
import Foundation

/// Writes records in another format: each with its id as `id`, a field that is itself called `id` as `id_`; in property lists
/// with its id as in a table's file.
///
///     try TableExport(format: .json).write(store.table("food").snapshot, to: file)
public struct TableExport: Sendable {
  public typealias Row = StoredRow<Record>

  public var format: ExchangeFormat
  /// The fields to write, in this order where the format has one; `nil` for all, in the order of their UTF-8 bytes.
  public var fields: [String]?

  public init(format: ExchangeFormat, fields: [String]? = nil) {
    self.format = format
    self.fields = fields
  }

  /// Replaces the file at `url`, or makes it: whatever happens, there is the old content or the new, whole and synced.
  /// - Throws: as ``write(_:_:)``, and the disk's errors.
  public func write(_ rows: some Collection<Row>, to url: URL) throws {
    try FileInfo.replaceFile(at: url) { append in try write(rows, append) }
  }

  /// Hands the bytes of the file to `sink`, piece by piece; for a binary property list, whose offsets come last, all at once.
  /// - Throws: ``StoreError/unrepresentableValue`` with record and field, where the encoding lacks a character or a field
  ///   would need the quotes that the format has not; what `sink` throws.
  public func write(_ rows: some Collection<Row>, _ sink: ([UInt8]) throws -> Void) throws {
    switch format {
    case .delimited(let format, let hasHeader):
      try writeDelimited(rows, DelimitedWriter(format: format), hasHeader: hasHeader, sink)
    case .json: try writeJSON(rows, sink)
    case .ndjson: try write(rows, sink) { Array((json($0) + "\n").utf8) }
    case .plist: try writePlist(rows, sink)
    case .binaryPlist: try sink(BinaryPlistWriter.document(.array(rows.map(plist))))
    }
  }

  /// Gathers what `bytes` makes of each row into larger pieces.
  private func write(
    _ rows: some Collection<Row>, _ sink: ([UInt8]) throws -> Void, _ bytes: (Row) throws -> [UInt8]
  ) throws {
    var piece: [UInt8] = []
    for row in rows {
      piece += try bytes(row)
      guard piece.count >= 64 << 10 else { continue }
      try sink(piece)
      piece.removeAll(keepingCapacity: true)
    }
    if !piece.isEmpty { try sink(piece) }
  }

  private func writeJSON(_ rows: some Collection<Row>, _ sink: ([UInt8]) throws -> Void) throws {
    guard !rows.isEmpty else { return try sink(Array("[]\n".utf8)) }
    var lead = "[\n  "
    try write(rows, sink) { row in
      defer { lead = ",\n  " }
      return Array((lead + json(row)).utf8)
    }
    try sink(Array("\n]\n".utf8))
  }

  private func writePlist(_ rows: some Collection<Row>, _ sink: ([UInt8]) throws -> Void) throws {
    guard !rows.isEmpty else { return try sink(try PlistWriter.document([])) }
    try sink(Array((PlistWriter.header + "<array>\n").utf8))
    try write(rows, sink) { row in
      var writer = PlistWriter()
      writer.append(plist(row), indentation: 1)
      return writer.bytes
    }
    try sink(Array(("</array>\n" + PlistWriter.footer).utf8))
  }

  private func writeDelimited(
    _ rows: some Collection<Row>, _ writer: DelimitedWriter, hasHeader: Bool, _ sink: ([UInt8]) throws -> Void
  ) throws {
    let columns = columns(of: rows)
    try sink(writer.mark)
    if hasHeader { try sink(try writer.bytes(["id"] + columns.map(JSONText.fieldName))) }
    try write(rows, sink) { row in
      let record = row.record
      do {
        return try writer.bytes(
          [row.id.description] + columns.map { record[$0].map(DelimitedWriter.text(of:)) })
      } catch let fault as DelimitedWriter.Fault {
        let field = fault.column == 0 ? "id" : columns[fault.column - 1]
        throw StoreError(StoreError.unrepresentableValue, fault.message, record: row.id, field: field)
      }
    }
  }

  private func columns(of rows: some Collection<Row>) -> [String] {
    if let fields { return fields }
    var names: Set<[UInt8]> = []
    var columns: [String] = []
    for row in rows {
      for field in row.record.fields where names.insert(Array(field.key.utf8)).inserted {
        columns.append(field.key)
      }
    }
    return columns.sorted { compareUTF8($0, $1) < 0 }
  }

  private func json(_ row: Row) -> String { JSONText.object(id: row.id, chosen(row)) }

  private func plist(_ row: Row) -> PlistValue {
    var fields = chosen(row).fields
    fields["wgFileDbSecretId"] = .string(row.id.description)
    return .dict(fields)
  }

  /// The record with only the fields that were chosen.
  private func chosen(_ row: Row) -> Record {
    guard let fields else { return row.record }
    var record = Record()
    for field in fields { record[field] = row[field] }
    return record
  }
}
