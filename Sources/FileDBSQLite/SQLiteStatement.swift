import CFileDBSQLite
import FileDB
import FileDBExchange
import FileDBPlist
import Foundation

/// A statement of SQL, prepared once.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: SQLiteConnection

  init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
  var parameterCount: Int32 { sqlite3_bind_parameter_count(handle) }
  var columnCount: Int32 { sqlite3_column_count(handle) }

  var columnNames: [String] {
    (0..<columnCount).map { column in sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "" }
  }

  /// The type with which a column was declared; empty if it has none.
  func declaredType(ofColumn column: Int32) -> String {
    sqlite3_column_decltype(handle, column).map { String(cString: $0) } ?? ""
  }

  /// Runs it to its end with these values for the parameters.
  func execute(_ values: [PlistValue?]) throws {
    try bind(values)
    while try step() {}
  }

  /// Goes to the next row, if there is one. Do not call it again after the last.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw connection.latestError
    }
  }
}

/// Values into parameters; the table at ``SQLiteExport`` lists what becomes of each type.
extension SQLiteStatement {
  /// Starts over with these values for the parameters.
  func bind(_ values: [PlistValue?]) throws {
    sqlite3_reset(handle)
    for (parameter, value) in zip(Int32(1)..., values) {
      guard bind(value, to: parameter) == SQLITE_OK else { throw connection.latestError }
    }
  }

  private func bind(_ value: PlistValue?, to parameter: Int32) -> Int32 {
    guard let value else { return sqlite3_bind_null(handle, parameter) }
    return switch value {
    case .string(let text): bind(text, to: parameter)
    case .integer(let number): sqlite3_bind_int64(handle, parameter, number)
    case .unsigned(let number): bind(number.description, to: parameter)
    case .real(let number) where number.isNaN: bind("nan", to: parameter)
    case .real(let number): sqlite3_bind_double(handle, parameter, number)
    case .bool(let value): sqlite3_bind_int64(handle, parameter, value ? 1 : 0)
    case .date(let date): bind(PlistDate.text(date), to: parameter)
    case .data(let data): bind(data, to: parameter)
    case .array, .dict: bind(JSONText.value(value), to: parameter)
    }
  }

  private func bind(_ text: String, to parameter: Int32) -> Int32 {
    let count = UInt64(text.utf8.count)
    return text.withCString {
      sqlite3_bind_text64(handle, parameter, $0, count, copied, UInt8(SQLITE_UTF8))
    }
  }

  private func bind(_ data: Data, to parameter: Int32) -> Int32 {
    // Empty data may have no address, and that would bind NULL.
    guard !data.isEmpty else { return sqlite3_bind_zeroblob(handle, parameter, 0) }
    return data.withUnsafeBytes {
      sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), copied)
    }
  }
}

/// `SQLITE_TRANSIENT`: SQLite makes a copy of the bytes.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Values out of columns.
extension SQLiteStatement {
  /// The value in a column of the present row; `nil` for NULL.
  /// - Throws: ``StoreError/Code/unrepresentableValue``.
  func value(at column: Int32) throws(StoreError) -> PlistValue? {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT:
      // First the text, because this may convert UTF-16 to UTF-8. Then its length in bytes.
      let start = sqlite3_column_text(handle, column)
      let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw StoreError(.unrepresentableValue, "the text is not UTF-8")
      }
      return .string(text)
    default:
      let start = sqlite3_column_blob(handle, column)
      let count = Int(sqlite3_column_bytes(handle, column))
      return .data(start.map { Data(bytes: $0, count: count) } ?? Data())
    }
  }
}
