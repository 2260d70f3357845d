import FileDB
import FileDBExchange

/// Records with the same values in some fields.
struct PrintedGroup {
  /// The values, for people.
  let title: String
  private(set) var records: [StoredRecord<Fields>] = []

  /// The groups, in the order of their first records. Numbers with the same value are in one group, whatever their
  /// types.
  static func groups(of records: [StoredRecord<Fields>], by fields: [FieldReference]) -> [PrintedGroup] {
    var groups: [PrintedGroup] = []
    var places: [[[UInt8]]: Int] = [:]
    for record in records {
      let values = fields.map { $0.value(in: record) }
      let key = values.map(key)
      if places[key] == nil {
        places[key] = groups.count
        groups.append(PrintedGroup(title: values.map(title).joined(separator: ", ")))
      }
      groups[places[key] ?? 0].records.append(record)
    }
    return groups
  }

  static func title(of value: PlistValue?) -> String {
    guard let value else { return "(none)" }
    return value == "" ? "\"\"" : value.cell
  }

  /// Bytes, because `String` treats different encodings of an accented letter as equal.
  private static func key(of value: PlistValue?) -> [UInt8] {
    guard let value else { return [] }
    let type = value.isNumeric ? "number" : value.typeName
    return Array((type + ":" + DelimitedWriter.text(of: value)).utf8)
  }
}
