import FileDBPlist

/// A table's name. Names are compared by their bytes, as Linux compares file names. `String` would treat different
/// encodings of the same accented letter as equal.
package struct TableKey: Hashable, Comparable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: TableKey, right: TableKey) -> Bool { compareUTF8(left.text, right.text) == 0 }
  package static func < (left: TableKey, right: TableKey) -> Bool { compareUTF8(left.text, right.text) < 0 }
  /// Whether the two names could mean the same file. Some disks, such as Apple's, ignore case and the different
  /// encodings of accents.
  package func isSameFile(as other: TableKey) -> Bool { text.lowercased() == other.text.lowercased() }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

package enum TableNameRule {
  package static let maximumBytes = 200

  /// - Throws: ``StoreError/Code/invalidTableName``.
  package static func validate(_ name: String) throws(StoreError) {
    let fault: String? =
      if name.isEmpty {
        "is empty"
      } else if name.utf8.count > maximumBytes {
        "is longer than \(maximumBytes) bytes"
      } else if name.utf8.contains(UInt8(ascii: "/")) {
        "must not hold '/'"
      } else if name.utf8.contains(0) {
        "must not hold a NUL"
      } else if name.utf8.first == UInt8(ascii: ".") {
        "must not begin with '.'"
      } else if name.utf8.suffix(6).elementsEqual(".plist".utf8) {
        "must not end in '.plist', which the file gets by itself"
      } else {
        nil
      }
    guard let fault else { return }
    throw StoreError(.invalidTableName, "the table name '\(name)' \(fault)")
  }

  /// Whether a property list can hold the name. FileDB creates no other tables, but another program may have.
  package static func canBeKept(_ name: String) -> Bool {
    (try? checkXMLText(name, limits: PlistLimits())) != nil
  }
}
