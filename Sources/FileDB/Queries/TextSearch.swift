import FileDBPlist

extension TableSnapshot {
  /// The records in which every word of `text` is found, in their order.
  ///
  ///     recipes.snapshot().search("creme brulee", in: ["name", "note"])
  ///
  /// White space parts the words. Each may be in another field, and may be a part of a longer word; neither case nor
  /// accents count, as with `CONTAINS[cd]` (<doc:Queries>). A `text` without words is found in every record, so that an
  /// empty search field hides nothing.
  /// - Parameter fields: those to look into; `nil` for all. A field is looked into where it is a text or an array of texts.
  /// - Complexity: O(*n*) in the bytes of the table: there is no lookup for words.
  public func search(_ text: String, in fields: [String]? = nil) -> [StoredRecord<Value>] {
    let parts = chosen(with: TextSearch(text, fields: fields)) { search, record in search.finds(record.fields)
    }
    return parts.flatMap { $0.records.map { StoredRecord(encoded: $0, source: source) } }
  }
}

private struct TextSearch: Sendable {
  private let words: [String]
  private let fields: [String]?
  private let folding: TextFolding = [.letterCase, .accents]

  init(_ text: String, fields: [String]?) {
    words = folding.fold(text).split(whereSeparator: \.isWhitespace).map(String.init)
    self.fields = fields
  }

  func finds(_ record: RecordFields) -> Bool {
    var missing = words
    for field in fields ?? record.names {
      guard !missing.isEmpty else { return true }
      for text in Self.texts(of: record[field]) {
        let folded = folding.fold(text)
        missing.removeAll { folded.containsBytes(of: $0) }
      }
    }
    return missing.isEmpty
  }

  private static func texts(of value: PlistValue?) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let elements): elements.compactMap(\.string)
    default: []
    }
  }
}
