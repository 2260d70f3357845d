import FileDBPlist
import FileDBTables

/// A field as people write it: `title`, `address.city` for a value in a dictionary, `id` for the record's id. In a
/// name, `\.` is a dot and `\\` a backslash.
package enum FieldReference: Hashable, Sendable {
  case id
  /// The names on the path, at least one.
  case path([FieldName])

  /// The field with exactly this name.
  package init(field: String) { self = .path([FieldName(field)]) }

  /// - Returns: `nil` if a name is empty, or if the path leads into the id.
  package init?(_ text: String) {
    let names = Self.names(in: text)
    guard names.allSatisfy({ !$0.isEmpty }) else { return nil }
    if let field = Self.field(names.map(FieldName.init)) {
      self = .path(field)
    } else if names.count == 1 {
      self = .id
    } else {
      return nil
    }
  }

  /// The path that these names in succession mean; `nil` if the first is the record's `id`.
  static func field(_ names: [FieldName]) -> [FieldName]? {
    let id = FieldName("id")
    guard names.first != id else { return nil }
    let count = names.prefix { $0 == FieldName("fields") }.count
    guard count > 0, count < names.count, names[count] == id else { return names }
    return [FieldName(names[1...count].map(\.text).joined(separator: "."))] + names.dropFirst(count + 1)
  }

  private static func names(in text: String) -> [String] {
    if !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\\") }) { return [text] }
    var names = [""]
    var scalars = text.unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\\" where scalars.first.map { [".", "\\", "["].contains($0) } == true:
        names[names.count - 1].unicodeScalars.append(scalars.removeFirst())
      case ".": names.append("")
      default: names[names.count - 1].unicodeScalars.append(scalar)
      }
    }
    return names
  }

  /// The names on the path; `nil` for the id.
  var names: [FieldName]? { if case .path(let names) = self { names } else { nil } }

  /// The name as it is shown in a heading.
  package var title: String {
    switch self {
    case .id: "id"
    case .path(let names):
      ([names[0].besideID] + names.dropFirst().map(\.text)).joined(separator: ".")
    }
  }
}

extension FieldReference {
  /// The value in a record with these fields and this id.
  package func value(in fields: Fields, of id: AnyRecordID) -> PlistValue? { value(of: id) { fields[$0] } }

  func value(in fields: RecordFields, of id: AnyRecordID) -> PlistValue? { value(of: id) { fields[$0] } }

  func value(of id: AnyRecordID, _ field: (String) -> PlistValue?) -> PlistValue? {
    switch self {
    case .id: .integer(id.rawValue)
    case .path(let names):
      names.dropFirst().reduce(field(names[0].text)) { value, name in value?.value(named: name) }
    }
  }
}

extension [FieldReference] {
  /// These fields with the id first, unless they already contain it.
  package var withID: [FieldReference] { contains(.id) ? self : [.id] + self }
}

extension PlistValue {
  /// A value of a dictionary. For an array, the values of all elements, as in key-value coding.
  func value(named name: FieldName) -> PlistValue? {
    switch self {
    case .dict(let entries): entries[name.text]
    case .array(let elements): .array(elements.compactMap { $0.value(named: name) })
    default: nil
    }
  }
}

extension Fields {
  /// Sets or removes a field, or a value in a dictionary inside it. Creates missing dictionaries on the path.
  /// - Throws: ``StoreError/Code/invalidValue`` if something on the path is not a dictionary.
  package mutating func set(_ value: PlistValue?, at path: [FieldName]) throws(StoreError) {
    guard value != nil || dictionary.hasDictionaries(on: path[...]) else { return }
    try dictionary.set(value, at: path[...], behind: [])
  }
}

extension PlistDictionary {
  /// Whether there is something to remove.
  fileprivate func hasDictionaries(on path: ArraySlice<FieldName>) -> Bool {
    guard let name = path.first, path.count > 1 else { return true }
    guard case .dict(let inner)? = self[name.text] else { return false }
    return inner.hasDictionaries(on: path.dropFirst())
  }

  fileprivate mutating func set(
    _ value: PlistValue?, at path: ArraySlice<FieldName>, behind outer: [FieldName]
  ) throws(StoreError) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      self[name.text] = value
      return
    }
    let here = outer + [name]
    var inner = PlistDictionary()
    switch self[name.text] {
    case nil: break
    case .dict(let found)?: inner = found
    case let other?:
      throw StoreError(
        .invalidValue,
        "it holds <\(other.typeName)>, not a dictionary, so nothing can be set in it",
        field: FieldReference.path(here).title)
    }
    try inner.set(value, at: path.dropFirst(), behind: here)
    self[name.text] = .dict(inner)
  }
}

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
