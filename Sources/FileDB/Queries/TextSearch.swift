import FileDBPlist

extension TableSnapshot {
  /// The records that contain every word of `text`, in their order.
  ///
  ///     recipes.snapshot().search("creme brulee", in: ["name", "note"])
  ///
  /// White space separates the words. Each word may be in a different field, and may be part of a longer word. Case and
  /// accents do not matter, as with `CONTAINS[cd]` (<doc:Queries>). If `text` has no words, every record matches, so an
  /// empty search field shows all records. If a record cannot be brought to the newest version of its type, its stored
  /// fields are searched.
  /// - Parameters:
  ///   - text: the words, as somebody types them.
  ///   - fields: the fields to search; `nil` for all. Only strings and arrays of strings are searched.
  /// - Complexity: O(*n*) in the bytes of the table. FileDB has no index of words.
  public func search(_ text: String, in fields: [String]? = nil) -> [StoredRecord<Value>] {
    let form = ValueForm(Value.self)
    let parts = chosen(with: TextSearch(text, fields: fields), newest: form.newestOrStored) {
      search, record in
      search.finds(record.fields)
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
