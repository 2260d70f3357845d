import FileDBPlist

/// The name of a field, or of a value in a dictionary. Names are compared by their bytes.
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

/// `id` means the record's id. So a field that is called `id` is written `fields.id`. To keep names distinct, a field
/// that is called `fields.id` is written `fields.fields.id`, and so on.
extension FieldName {
  private static let prefix = "fields."

  /// The name as it is written when the record's `id` may be meant as well.
  package var besideID: String { isTaken ? Self.prefix + text : text }

  /// The field for which people write `text`, if that differs from its name.
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
