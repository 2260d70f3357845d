import FileDBTables

/// Where a record that a transaction writes comes from: a place in an imported file.
package struct RecordOrigin: Sendable {
  package let file: String
  /// The line in the file; `nil` if the file is not read by lines.
  package let line: Int?
  /// The place in the file, in words.
  package let text: String

  package init(file: String, line: Int?, text: String) {
    (self.file, self.line, self.text) = (file, line, text)
  }
}

extension TransactionState {
  func origin(of record: AnyRecordID, in table: TableKey) -> RecordOrigin? {
    for find in recordOrigins[table, default: []].reversed() {
      if let origin = find(record) { return origin }
    }
    return nil
  }
}
