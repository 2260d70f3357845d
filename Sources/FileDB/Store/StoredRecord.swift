import FileDBPlist
import Foundation

/// A record in the very bytes that its table's file and the journal have for it, decoded when somebody looks.
package struct StoredRecord: Sendable, Equatable {
  package let id: RecordID
  /// The canonical lines of its dictionary, the id among them; mostly a slice of the file as it was read.
  package let bytes: ArraySlice<UInt8>

  init(id: RecordID, bytes: ArraySlice<UInt8>) {
    self.id = id
    self.bytes = bytes
  }

  /// - Parameter record: normalized.
  package init(id: RecordID, record: Record) {
    var writer = PlistWriter()
    Self.append(id, record.fields, to: &writer)
    self.init(id: id, bytes: writer.bytes[...])
  }

  func hasSameBytes(as other: StoredRecord) -> Bool {
    bytes.withUnsafeBytes { mine in
      other.bytes.withUnsafeBytes { theirs in
        guard mine.count == theirs.count, let start = mine.baseAddress, let theirStart = theirs.baseAddress
        else { return mine.count == theirs.count }
        return start == theirStart || memcmp(start, theirStart, mine.count) == 0
      }
    }
  }

  /// The fields without the id.
  /// - Complexity: O(*n*) in the size of the record.
  package var record: Record {
    bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var fields = reader.dictionary(reader.dict(indentation: TableFile.depthOfFields - 1))
      fields.removeValue(forKey: TableFile.idKey)
      return Record(fields: fields)
    }
  }

  /// Appends the lines of a record.
  static func append(_ id: RecordID, _ fields: PlistDictionary, to writer: inout PlistWriter) {
    writer.append("\t\t<dict>\n" as StaticString)
    var idIsWritten = false
    for field in fields {
      if !idIsWritten, compareUTF8(TableFile.idKey, field.key) < 0 {
        append(id, to: &writer)
        idIsWritten = true
      }
      writer.append(key: field.key, indentation: TableFile.depthOfFields)
      writer.append(field.value, indentation: TableFile.depthOfFields)
    }
    if !idIsWritten { append(id, to: &writer) }
    writer.append("\t\t</dict>\n" as StaticString)
  }

  private static func append(_ id: RecordID, to writer: inout PlistWriter) {
    writer.append("\t\t\t<key>wgFileDbSecretId</key>\n\t\t\t<string>" as StaticString)
    writer.append(id.description)
    writer.append("</string>\n" as StaticString)
  }
}
