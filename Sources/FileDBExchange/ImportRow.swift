import FileDB
import FileDBPlist

/// A row of a file that becomes a record of a table, and where it comes from.
package struct ImportRow {
  /// A row, or the error in it. In either case, the next one can be read.
  package typealias Reading = Result<ImportRow, StoreError>

  /// Where a row or one of its fields begins, as far as that is known.
  package typealias Location = (line: Int?, column: Int?)

  package var fields: Fields
  /// The names of the fields in the order of the row, if each row names its own.
  package var names: [String] = []
  /// The names of the fields to remove from the record.
  package var cleared: [String] = []
  /// The id that it had in its former table.
  package var id: RecordID<Fields>?
  /// The table that it comes from, if the file has several.
  let table: String?
  /// The line on which it begins. If the file is not read by lines, its number.
  let origin: Origin
  /// Called only after an error, because it may have to read the file again.
  let location: (_ field: String?) -> Location

  package init(
    fields: Fields, table: String? = nil, origin: Origin,
    location: @escaping (_ field: String?) -> Location = { _ in (nil, nil) }
  ) {
    (self.fields, self.table, self.origin, self.location) = (fields, table, origin, location)
  }

  package enum Origin: Equatable {
    case line(Int)
    case row(Int)

    /// `nil` if the origin is the number of a row.
    var line: Int? { if case .line(let line) = self { line } else { nil } }

    var text: String {
      switch self {
      case .line(let line): "line \(line)"
      case .row(let row): "row \(row)"
      }
    }
  }

  package func error(
    _ message: String, code: StoreError.Code = StoreError.Code.invalidText, file: String, field: String? = nil
  ) -> StoreError {
    let location = location(field)
    var message = message
    if location.line == nil { message = "\(origin.text): \(message)" }
    var error = StoreError(code, message, file: file, line: location.line, table: table, field: field)
    error.column = location.column
    return error
  }

  /// The fields as a table will return them.
  func normalized(file: String) throws(StoreError) -> Fields {
    do {
      return try fields.normalized(limits: PlistLimits())
    } catch {
      throw self.error(error.message, code: error.code, file: file, field: error.field)
    }
  }

  /// Removes `id`, and gives the fields the names that they have in the table.
  mutating func takeID(file: String) throws(StoreError) {
    if let value = fields["id"] { id = try recordID(value, file: file) }
    fields = fields.withOwnNames
    cleared = cleared.filter { $0 != "id" }.map { FieldName(besideID: $0)?.text ?? $0 }
  }

  /// Reads the id from the value of the field `id`.
  package func recordID(_ value: PlistValue, file: String) throws(StoreError) -> RecordID<Fields> {
    if let id = RecordID<Fields>(importing: value) { return id }
    throw error("'\(DelimitedWriter.text(of: value))' is not a record's id", file: file, field: "id")
  }
}

extension RecordID<Fields> {
  /// Reads the id from a field of a file, as text or as a number.
  init?(importing value: PlistValue) {
    switch value {
    case .string(let digits): self.init(digits)
    case .integer(let number): self.init(rawValue: number)
    default: return nil
    }
  }
}

extension Fields {
  /// The fields without the `id` that an export adds for the record itself, and with their names in the table. Reverses
  /// ``JSONText/fieldName(_:)``.
  var withOwnNames: Fields {
    let own = dictionary.filter { !$0.key.utf8.elementsEqual("id".utf8) }.map { field in
      PlistDictionary.Entry(key: FieldName(besideID: field.key)?.text ?? field.key, value: field.value)
    }
    return Fields(PlistDictionary(lastOf: own))
  }

  /// Whether a field has a name that only an export would use.
  var haveNamesOfExport: Bool { dictionary.contains { FieldName(besideID: $0.key) != nil } }
}
