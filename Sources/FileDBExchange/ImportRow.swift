import FileDB

/// A record on its way into a table, and where it came from.
struct ImportRow {
  /// A row, or what is wrong with it; the next one can be read in either case.
  typealias Reading = Result<ImportRow, StoreError>

  /// Where a row, or one of its fields, begins, as far as that is known.
  typealias Place = (line: Int?, column: Int?)

  var record: Record
  /// The id it had in the table that it came from.
  var id: RecordID?
  /// The line on which it begins, or, in a file that is not read by lines, its row.
  let origin: Origin
  /// Looked at only where something is wrong: it may have to read the file again.
  let place: (_ field: String?) -> Place

  enum Origin: Equatable {
    case line(Int)
    case row(Int)

    var text: String {
      switch self {
      case .line(let line): "line \(line)"
      case .row(let row): "row \(row)"
      }
    }
  }

  func error(
    _ message: String, code: StoreError.Code = StoreError.invalidText, file: String, field: String? = nil
  ) -> StoreError {
    let place = place(field)
    var message = message
    if place.line == nil { message = "\(origin.text): \(message)" }
    var error = StoreError(code, message, file: file, line: place.line, field: field)
    error.column = place.column
    return error
  }

  /// The record as a table will give it back.
  func normalized(file: String) throws(StoreError) -> Record {
    do {
      return try record.normalized(limits: PlistLimits())
    } catch {
      throw self.error(error.message, code: error.code, file: file, field: error.field)
    }
  }

  /// Takes `id`, and gives the fields the names that they have in the table; undoes ``JSONText/fieldName(_:)``.
  mutating func takeID(file: String) throws(StoreError) {
    if let value = record["id"] {
      id =
        switch value {
        case .string(let text): RecordID(text)
        case .integer(let number): RecordID(rawValue: number)
        default: nil
        }
      if id == nil {
        throw error("'\(DelimitedWriter.text(of: value))' is no id of a record", file: file, field: "id")
      }
    }
    var fields = PlistDictionary()
    for field in record.fields where !field.key.utf8.elementsEqual("id".utf8) {
      fields[JSONText.isEscaped(field.key) ? String(field.key.dropLast()) : field.key] = field.value
    }
    record.fields = fields
  }
}
