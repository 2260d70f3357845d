import FileDBPlist

/// The name of a field, or of a value in a dictionary, told from others by its bytes.
package struct FieldName: Hashable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: FieldName, right: FieldName) -> Bool {
    compareUTF8(left.text, right.text) == 0
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

/// `id` names the record's id, so a field that is itself called `id` goes by `fields.id`, and so that no two fall
/// together, one called `fields.id` by `fields.fields.id`, and so on.
extension FieldName {
  private static let prefix = "fields."

  /// The name beside the record's `id`.
  package var besideID: String { isTaken ? Self.prefix + text : text }

  /// The name of the field that goes by `text`, if that is not its own.
  package init?(besideID text: String) {
    let bytes = text.utf8
    guard bytes.starts(with: Self.prefix.utf8) else { return nil }
    let name = FieldName(String(text.dropFirst(Self.prefix.count)))
    guard name.isTaken else { return nil }
    self = name
  }

  private var isTaken: Bool {
    var rest = text.utf8[...]
    while rest.starts(with: Self.prefix.utf8) { rest = rest.dropFirst(Self.prefix.utf8.count) }
    return rest.elementsEqual("id".utf8)
  }
}
