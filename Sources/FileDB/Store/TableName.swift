import FileDBPlist

/// The name of a table and the type of its values.
///
///     extension TableName<Note> { static var notes: Self { "notes" } }
///
/// The name becomes a file name. It has 1 to 200 bytes of UTF-8, no `/` or NUL, no `.` at the start and no `.plist` at
/// the end. It is checked when you first use it.
public struct TableName<Value: Codable & Sendable>: Hashable, Sendable {
  /// The name as text.
  public let text: String

  /// A table name. It is checked when you first use it.
  public init(_ text: String) { self.text = text }
}

extension TableName {
  /// Whether the names have the same bytes, as with file names.
  public static func == (left: TableName, right: TableName) -> Bool {
    TableKey(left.text) == TableKey(right.text)
  }
  public func hash(into hasher: inout Hasher) { TableKey(text).hash(into: &hasher) }
}

extension TableName: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { text = value }
}

extension TableName where Value == Fields {
  /// A table whose records are read as they are, field by field.
  public static func records(_ name: String) -> Self { TableName(name) }
}
