import FileDBPlist

/// The path to a field of a record, or to a value inside it: `address.street`, `tags[2]`.
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

/// The place of an array's element. It has its own type, because a number may also be a key of a dictionary.
struct ElementKey: CodingKey {
  let index: Int
  var stringValue: String { "\(index)" }
  var intValue: Int? { index }

  init(_ index: Int) { self.index = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}
