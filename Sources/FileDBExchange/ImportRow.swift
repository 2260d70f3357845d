import FileDB
import FileDBPlist

/// A row of a file on its way into a table as a record, and where it came from.
package struct ImportRow {
  /// A row, or what is wrong with it; the next one can be read in either case.
  package typealias Reading = Result<ImportRow, StoreError>

  /// Where a row, or one of its fields, begins, as far as that is known.
  package typealias Place = (line: Int?, column: Int?)

  package var fields: Fields
  /// The names of the fields in the order of the row, if each row has its own.
  package var names: [String] = []
  /// The names of the fields that the record should lose.
  package var cleared: [String] = []
  /// The id it had in the table that it came from.
  package var id: RecordID<Fields>?
  /// The table that it came from, if a file has several.
  let table: String?
  /// The line on which it begins, or, in a file that is not read by lines, its number.
  let origin: Origin
  /// Looked at only if something is wrong: it may have to read the file again.
  let place: (_ field: String?) -> Place

  package init(
    fields: Fields, table: String? = nil, origin: Origin,
    place: @escaping (_ field: String?) -> Place = { _ in (nil, nil) }
  ) {
    (self.fields, self.table, self.origin, self.place) = (fields, table, origin, place)
  }

  package enum Origin: Equatable {
    case line(Int)
    case row(Int)

    /// `nil` for a number of a row.
    var line: Int? { if case .line(let line) = self { line } else { nil } }

    var text: String {
      switch self {
      case .line(let line): "line \(line)"
      case .row(let row): "row \(row)"
      }
    }
  }

  package func error(
    _ message: String, code: StoreError.Code = StoreError.invalidText, file: String, field: String? = nil
  ) -> StoreError {
    let place = place(field)
    var message = message
    if place.line == nil { message = "\(origin.text): \(message)" }
    var error = StoreError(code, message, file: file, line: place.line, table: table, field: field)
    error.column = place.column
    return error
  }

  /// The fields as a table will give them back.
  func normalized(file: String) throws(StoreError) -> Fields {
    do {
      return try fields.normalized(limits: PlistLimits())
    } catch {
      throw self.error(error.message, code: error.code, file: file, field: error.field)
    }
  }

  /// Takes `id`, and gives the fields the names that they have in the table.
  mutating func takeID(file: String) throws(StoreError) {
    if let value = fields["id"] { id = try recordID(value, file: file) }
    fields = fields.withOwnNames
    cleared = cleared.filter { $0 != "id" }.map { FieldName(besideID: $0)?.text ?? $0 }
  }

  /// The id that the value of the field `id` stands for.
  package func recordID(_ value: PlistValue, file: String) throws(StoreError) -> RecordID<Fields> {
    if let id = RecordID<Fields>(importing: value) { return id }
    throw error("'\(DelimitedWriter.text(of: value))' is not a record's id", file: file, field: "id")
  }
}

extension RecordID<Fields> {
  /// The id that a field of a file holds, as text or as a number.
  init?(importing value: PlistValue) {
    switch value {
    case .string(let digits): self.init(digits)
    case .integer(let number): self.init(rawValue: number)
    default: return nil
    }
  }
}

extension Fields {
  /// Without the `id` that an export has for the record itself, and the names of the fields as in the table; undoes
  /// ``JSONText/fieldName(_:)``.
  var withOwnNames: Fields {
    let own = dictionary.filter { !$0.key.utf8.elementsEqual("id".utf8) }.map { field in
      PlistDictionary.Entry(key: FieldName(besideID: field.key)?.text ?? field.key, value: field.value)
    }
    return Fields(PlistDictionary(lastOf: own))
  }

  /// Whether a field has the name that only an export gives it.
  var haveNamesOfExport: Bool { dictionary.contains { FieldName(besideID: $0.key) != nil } }
}
