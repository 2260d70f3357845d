import FileDBPlist

/// The name of a table and the type of its values.
///
///     extension TableName<Note> { static var notes: Self { "notes" } }
///
/// The name becomes a file name. It has 1 to 200 bytes of UTF-8, no `/` or NUL, no `.` at the start and no `.plist` at
/// the end. It is checked when you first use it. A new table's name has only characters that XML can hold.
public struct TableName<Value: Codable & Sendable>: Hashable, Sendable {
  /// The name as text.
  public let text: String
  /// Called when a transaction first writes to the table.
  let declaration: (@Sendable () -> TableDeclaration<Value>)?

  /// A table name. FileDB checks it when you first use it.
  public init(_ text: String) {
    self.text = text
    declaration = nil
  }

  /// The name of a table, with the rules for its fields; see ``TableDeclaration``. FileDB evaluates the declaration
  /// when the program writes to the table.
  public init(
    _ text: String, declaring declaration: @autoclosure @escaping @Sendable () -> TableDeclaration<Value>
  ) {
    self.text = text
    self.declaration = declaration
  }
}

extension TableName {
  /// Whether the names have the same bytes, as with file names.
  public static func == (left: TableName, right: TableName) -> Bool {
    TableKey(left.text) == TableKey(right.text)
  }
  public func hash(into hasher: inout Hasher) { TableKey(text).hash(into: &hasher) }
}

extension TableName: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension TableName where Value == Fields {
  /// The name of a table whose records have no Swift type: you read them field by field.
  public static func records(_ name: String) -> Self { TableName(name) }
}
