import FileDB
import FileDBExchange
import FileDBPlist

/// A summary of a field of many records.
struct FieldPicture {
  let name: String
  private var counts: [FieldType: Int] = [:]
  private var summary = FieldSummary()

  init(name: String) { self.name = name }

  mutating func add(_ value: PlistValue) {
    counts[FieldType(of: value), default: 0] += 1
    summary.add(value)
  }

  static let titles = ["field", "type", "records", "minimum", "maximum"]

  var row: [PlistValue?] {
    [.string(name), .string(types), .integer(Int64(summary.count)), summary.minimum, summary.maximum]
  }

  var dictionary: PlistDictionary {
    PlistDictionary(
      lastOf: zip(Self.titles, row).compactMap { title, value in
        value.map { PlistDictionary.Entry(key: title, value: $0) }
      })
  }

  /// A row of a table for people.
  /// - Parameter records: the number of records.
  fileprivate func cells(of records: Int) -> [TextCell] {
    [
      TextCell(TerminalText.defused(JSONText.fieldName(name))), TextCell(types),
      TextCell(summary.count.description), TextCell(bar(summary.count, of: records)),
      bound(summary.minimum), bound(summary.maximum),
    ]
  }

  private var types: String {
    if counts.count == 1 { return counts.keys.first?.rawValue ?? "" }
    return counts.map { (name: $0.key.rawValue, count: $0.value) }.sorted { $0.name < $1.name }
      .map { "\($0.name) (\($0.count))" }.joined(separator: ", ")
  }

  /// It is full only if all records have the field, and empty only if none has it.
  private func bar(_ count: Int, of all: Int) -> String {
    let length = 10
    let full = count == all ? length : min(max((count * length + all / 2) / all, 1), length - 1)
    return String(repeating: "█", count: full) + String(repeating: "░", count: length - full)
  }

  /// Shortens a value: a long text would leave no space for the others.
  private func bound(_ value: PlistValue?) -> TextCell {
    var cell = TextCell(value)
    cell.text = TerminalText.truncated(cell.text, to: 24)
    return cell
  }
}

/// A summary of many records.
struct TablePicture {
  /// Sorted by name.
  let fields: [FieldPicture]
  private let count: Int

  init(of records: some Collection<StoredRecord<Fields>>) {
    var pictures: [String: FieldPicture] = [:]
    for record in records {
      for field in record.fields.dictionary {
        pictures[field.key, default: FieldPicture(name: field.key)].add(field.value)
      }
    }
    fields = pictures.sorted { $0.key < $1.key }.map(\.value)
    count = records.count
  }

  /// The summary as a table for people.
  var table: TextTable {
    TextTable(
      columns: [
        TextTable.Column(title: "field"), TextTable.Column(title: "type"),
        TextTable.Column(title: "records", isNumeric: true), TextTable.Column(title: "full"),
        TextTable.Column(title: "least"), TextTable.Column(title: "greatest"),
      ], rows: fields.map { $0.cells(of: count) })
  }
}
