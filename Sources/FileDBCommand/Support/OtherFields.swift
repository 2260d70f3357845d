import FileDB
import FileDBPlist

/// Fields that only later records have. The table is already being printed, without columns for them.
struct OtherFields {
  private let shown: Set<FieldReference>
  private var last: [String] = []
  private var names: Set<FieldName> = []

  init(than shown: [FieldReference]) { self.shown = Set(shown) }

  mutating func look(at fields: Fields) {
    let keys = fields.dictionary.keys
    // Most records have the same fields as the one before.
    if keys.elementsEqual(last, by: { $0.utf8.elementsEqual($1.utf8) }) { return }
    last = keys
    for key in keys where !shown.contains(FieldReference(field: key)) {
      names.insert(FieldName(key))
    }
  }

  /// `nil` if there are none.
  var note: String? {
    if names.isEmpty { return nil }
    let list = names.map(\.text).sorted { compareUTF8($0, $1) < 0 }
      .map { FieldReference(field: $0).title }.joined(separator: ", ")
    return "fields that only later records have are not shown; choose with --fields: \(list)"
  }
}
