import FileDBPlist

/// The way to a field of a record, or to what lies in one: `address.street`, `tags[2]`.
struct FieldPath {
  let steps: [PlistStep]

  init(_ codingPath: [any CodingKey]) {
    steps = codingPath.map { key in
      if let element = key as? ElementKey { .index(element.index) } else { .key(key.stringValue) }
    }
  }

  /// `nil` for the record itself.
  var text: String? {
    guard !steps.isEmpty else { return nil }
    return steps.reduce(into: "") { text, step in
      switch step {
      case .key(let key): text += text.isEmpty ? key : ".\(key)"
      case .index(let index): text += "[\(index)]"
      }
    }
  }
}

/// The place of an array's element. A type of its own, for a number may be a dictionary's key as well.
struct ElementKey: CodingKey {
  let index: Int
  var stringValue: String { "\(index)" }
  var intValue: Int? { index }

  init(_ index: Int) { self.index = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}
