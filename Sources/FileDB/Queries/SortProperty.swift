import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A property to sort by. The field in which its type stores it is found when records are sorted.
///
/// Unchecked because a path may have captured a subscript's argument. Here it is compared and read from, and never
/// changed; the closure has captured nothing else.
struct SortProperty: Hashable, @unchecked Sendable {
  private let path: AnyKeyPath
  private let find: (OrderedRecords) throws(StoreError) -> FieldReference?

  init<Value: Codable, Field: Codable & Equatable>(_ path: KeyPath<Value, Field>) {
    self.path = path
    find = { records throws(StoreError) in
      if let known = KnownPaths.reference(of: path) { return known }
      return try PropertySearch(path).field(in: records)
    }
  }

  /// - Returns: `nil` if no two of the records differ in the property.
  /// - Throws: ``StoreError/Code/invalidValue`` if nothing shows which field it is.
  func field(in records: OrderedRecords) throws(StoreError) -> FieldReference? { try find(records) }

  static func == (left: Self, right: Self) -> Bool { left.path == right.path }
  func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Finds the field of a property from records, for a type that does not decode made-up ones.
private struct PropertySearch<Value: Codable, Field: Codable & Equatable> {
  private typealias Entries = [[FieldName]: PlistValue]

  private let path: KeyPath<Value, Field>

  init(_ path: KeyPath<Value, Field>) { self.path = path }

  func field(in records: OrderedRecords) throws(StoreError) -> FieldReference? {
    var reader = ValueReader<Value>()
    var first: (record: EncodedRecord, value: Value)?
    for record in records {
      guard let value = try? reader.value(of: record) else { continue }
      guard let (former, known) = first else {
        first = (record, value)
        continue
      }
      if value[keyPath: path] == known[keyPath: path] { continue }
      // An object is decoded anew, because it is altered.
      if let names = (try? reader.value(of: former)).flatMap({ field(that: $0, and: value) }) {
        return .path(names)
      }
      throw StoreError(
        .invalidValue,
        "FileDB cannot tell in which field \(Value.self) stores \(path); use .ascending or .descending with its name"
      )
    }
    return nil
  }

  /// The only field that has the property's value in both; or if there are several, the only one of them that changes
  /// if the first value gets the property of the second.
  private func field(that first: Value, and second: Value) -> [FieldName]? {
    guard let before = entries(of: first), let other = entries(of: second) else { return nil }
    let stored = [first, second].map(forms)
    let found = Set(before.keys).union(other.keys).filter { names in
      stored[0].contains(before[names]) && stored[1].contains(other[names])
    }
    if found.count == 1 { return found.first }
    guard let path = path as? WritableKeyPath<Value, Field> else { return nil }
    var changed = first
    changed[keyPath: path] = second[keyPath: path]
    guard let after = entries(of: changed) else { return nil }
    let altered = found.filter { after[$0] != before[$0] }
    return altered.count == 1 ? altered.first : nil
  }

  /// What a value's property may be stored as. That of an `@ExactDate` is a plain date.
  private func forms(of value: Value) -> [PlistValue?] {
    let field = value[keyPath: path]
    let exact = (field as? Date).map { try? FieldsEncoder.encodeValue(ExactDate($0), codingPath: []) }
    return [try? FieldsEncoder.encodeValue(field, codingPath: [])] + [exact].compactMap(\.self)
  }

  /// All that a value stores, by the names that lead to it.
  private func entries(of value: Value) -> Entries? {
    (try? FieldsEncoder.encodeUnmarked(value)).map { fields in
      var entries: Entries = [:]
      collect(fields.dictionary, below: [], &entries)
      return entries
    }
  }

  private func collect(_ fields: PlistDictionary, below names: [FieldName], _ entries: inout Entries) {
    for field in fields {
      let path = names + [FieldName(field.key)]
      entries[path] = field.value
      if case .dict(let inner) = field.value { collect(inner, below: path, &entries) }
    }
  }
}
