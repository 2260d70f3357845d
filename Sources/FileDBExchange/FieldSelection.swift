import FileDB

/// The chosen fields as a tree. For a dictionary, it has the values that were chosen.
struct FieldSelection {
  private var parts: [FieldName: FieldSelection] = [:]
  /// Whether everything here was chosen.
  private var isWhole = false

  init(_ references: [FieldReference]) {
    for case .path(let names) in references { insert(names[...]) }
  }

  private mutating func insert(_ names: ArraySlice<FieldName>) {
    guard let name = names.first else {
      isWhole = true
      return
    }
    parts[name, default: FieldSelection([])].insert(names.dropFirst())
  }

  func chosen(from fields: PlistDictionary) -> PlistDictionary {
    PlistDictionary(
      lastOf: fields.compactMap { field in
        parts[FieldName(field.key)]?.chosen(from: field.value).map {
          PlistDictionary.Entry(key: field.key, value: $0)
        }
      })
  }

  /// - Returns: `nil` if nothing of it was chosen.
  private func chosen(from value: PlistValue) -> PlistValue? {
    if isWhole { return value }
    switch value {
    case .dict(let entries):
      let chosen = chosen(from: entries)
      return chosen.isEmpty ? nil : .dict(chosen)
    case .array(let elements):
      let chosen = elements.compactMap { self.chosen(from: $0) }
      return chosen.isEmpty ? nil : .array(chosen)
    default: return nil
    }
  }
}
