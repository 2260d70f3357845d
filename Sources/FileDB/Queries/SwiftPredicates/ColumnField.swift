import FileDBEssentials
import FileDBTables

/// A type whose values can be read from columns.
protocol ColumnField: Decodable {
  /// - Parameter index: of a record that has the field.
  /// - Returns: `nil` if the column does not hold a value of this type.
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord)
}

extension Int: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    guard column.kind(index) == .integer else { return nil }
    self.init(exactly: column.integer(index))
  }
}

extension Double: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    guard column.kind(index) == .real else { return nil }
    self = column.real(index)
  }
}

extension Bool: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    switch column.kind(index) {
    case .false: self = false
    case .true: self = true
    default: return nil
    }
  }
}

extension Date: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    guard column.kind(index) == .date else { return nil }
    self = column.date(index)
  }
}

extension String: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    guard column.kind(index) == .text else { return nil }
    self = record.withBytes(column.text(index)) { String(decoding: $0, as: UTF8.self) }
  }
}

extension Optional: ColumnField where Wrapped: ColumnField {
  init?(in column: ChunkColumn, _ index: Int, of record: EncodedRecord) {
    guard let value = Wrapped(in: column, index, of: record) else { return nil }
    self = .some(value)
  }
}
