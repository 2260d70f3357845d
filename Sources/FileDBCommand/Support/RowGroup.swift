import FileDB
import FileDBExchange

/// Rows with the same value in a field.
struct RowGroup {
  typealias Row = StoredRow<Record>

  /// The value for people.
  let title: String
  private(set) var rows: [Row] = []

  /// The groups in the order of their first rows; numbers of the same value are one, whatever their types.
  static func groups(of rows: [Row], by field: String) -> [RowGroup] {
    var groups: [RowGroup] = []
    var places: [[UInt8]: Int] = [:]
    for row in rows {
      let value = row.record[field]
      let key = key(of: value)
      if places[key] == nil {
        places[key] = groups.count
        groups.append(RowGroup(title: title(of: value)))
      }
      groups[places[key] ?? 0].rows.append(row)
    }
    return groups
  }

  private static func title(of value: PlistValue?) -> String {
    guard let value else { return "(none)" }
    return value == "" ? "\"\"" : value.cell
  }

  /// Bytes, since `String` would fold accents that are written in different ways.
  private static func key(of value: PlistValue?) -> [UInt8] {
    guard let value else { return [] }
    let type = value.isNumeric ? "number" : value.typeName
    return Array((type + ":" + DelimitedWriter.text(of: value)).utf8)
  }
}
