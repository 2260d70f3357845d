import FileDBPlist

/// The name of a table and the type of its rows.
///
///     extension TableName<Note> { static var notes: Self { "notes" } }
///
/// A name becomes a file name: 1 to 200 bytes of UTF-8, no `/` or NUL, no `.` at the start, no `.plist` at the end.
/// It is checked when it is first used.
public struct TableName<Row: Codable & Sendable>: Hashable, Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }
}

extension TableName {
  /// Names are told apart as file names are, by their bytes.
  public static func == (left: TableName, right: TableName) -> Bool {
    TableKey(left.text) == TableKey(right.text)
  }
  public func hash(into hasher: inout Hasher) { TableKey(text).hash(into: &hasher) }
}

extension TableName: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { text = value }
}

extension TableName where Row == Record {
  /// A table whose rows are read as they are, field by field.
  public static func records(_ name: String) -> Self { TableName(name) }
}

/// A table's name, told from others as file names are on Linux: by its bytes, where `String` would fold accents that are
/// written in different ways.
struct TableKey: Hashable, Comparable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: TableKey, right: TableKey) -> Bool { compareUTF8(left.text, right.text) == 0 }
  static func < (left: TableKey, right: TableKey) -> Bool { compareUTF8(left.text, right.text) < 0 }
  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

enum TableNameRule {
  static let maximumBytes = 200

  /// - Throws: ``StoreError/invalidTableName``.
  static func check(_ name: String) throws(StoreError) {
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
    throw StoreError(StoreError.invalidTableName, "the table name '\(name)' \(fault)")
  }
}
