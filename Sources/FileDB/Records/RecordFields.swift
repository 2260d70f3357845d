import FileDBPlist
import Foundation

/// The fields of a record where they lie in its bytes: each is read when it is asked for.
struct RecordFields {
  private let bytes: ArraySlice<UInt8>
  private let entries: [(key: Range<Int>, element: CanonicalElement)]

  /// - Complexity: O(*n*) in the size of the record; nothing is copied.
  init(_ record: StoredRecord) {
    bytes = record.bytes
    entries = bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var found: [(key: Range<Int>, element: CanonicalElement)] = []
      found.reserveCapacity(16)
      var cursor = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let entry = cursor.next() {
        if !reader.isText(entry.key, TableFile.idKey) { found.append(entry) }
      }
      return found
    }
  }

  var names: [String] { read { reader in entries.map { reader.text($0.key) } } }

  func contains(_ name: String) -> Bool { read { find(name, $0) != nil } }

  subscript(name: String) -> PlistValue? {
    read { reader in find(name, reader).map(reader.value(of:)) }
  }

  /// The field as `body` reads it.
  func value<Value>(_ name: String, _ body: (CanonicalReader, CanonicalElement) -> Value?) -> Value? {
    read { reader in find(name, reader).flatMap { body(reader, $0) } }
  }

  private func read<Result>(_ body: (CanonicalReader) -> Result) -> Result {
    bytes.withUnsafeBytes { body(CanonicalReader($0)) }
  }

  private func find(_ name: String, _ reader: CanonicalReader) -> CanonicalElement? {
    entries.first { reader.isText($0.key, name) }?.element
  }
}
