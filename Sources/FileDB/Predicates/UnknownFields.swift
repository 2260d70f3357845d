import FileDBPlist
import FileDBTables

/// A field that a predicate names but no record of the table has. The name is probably mistyped.
public struct UnknownField: Hashable, Sendable {
  /// The name. For a value in a dictionary, the whole path: `address.ctiy`.
  public let name: String
  /// The most similar name that a record has; `nil` if none is similar.
  public let nearest: String?
}

extension RecordPredicate {
  /// Returns the fields that the predicate names but no record of `snapshot` has, in the order in which it names them.
  ///
  /// Such a predicate is not an error, since records may have different fields. But it seldom does what its author
  /// meant: `titel != "a"` is true of every record. If your users write predicates, tell them about these fields, and
  /// ask before you delete by such a predicate. If `snapshot` has no records, the result is empty.
  /// - Complexity: O(*n*) if no record has one of the fields; otherwise, up to the first records that have them.
  public func unknownFields<Value>(in snapshot: TableSnapshot<Value>) -> [UnknownField] {
    snapshot.unknownFields(snapshot.missing(of: FieldSearch(for: self).missing))
  }
}

/// Looks for fields in records, one after another.
struct FieldSearch: Sendable {
  /// The names on the path to a field.
  typealias Keys = [FieldName]

  /// The fields that were not found so far.
  private(set) var missing: [Keys]

  /// Looks for the fields in a predicate.
  init(for predicate: RecordPredicate) {
    missing = []
    for keys in predicate.node.paths.map(\.keys) where !keys.isEmpty && !missing.contains(keys) {
      missing.append(keys)
    }
  }

  init(for fields: [Keys]) { missing = fields }

  mutating func look(at fields: RecordFields) {
    if !missing.isEmpty { missing.removeAll { fields.hasField($0) } }
  }
}

extension TableSnapshot {
  /// The fields among `references` that no record has; none for a table without records.
  /// - Complexity: as ``RecordPredicate/unknownFields(in:)``.
  package func unknownFields(among references: [FieldReference]) -> [UnknownField] {
    unknownFields(missing(of: references.compactMap(\.names)))
  }

  /// The fields among `fields` that no record has.
  fileprivate func missing(of fields: [FieldSearch.Keys]) -> [FieldSearch.Keys] {
    var search = FieldSearch(for: fields)
    let form = ValueForm(Value.self)
    let reader = form.makeFields()
    var records = state.records.makeIterator()
    while !search.missing.isEmpty, let record = records.next() {
      reader.read(form.newestOrStored(record)) { search.look(at: reader) }
    }
    return search.missing
  }

  /// - Parameter missing: fields that no record has. A field that the schema declares is not unknown.
  func unknownFields(_ missing: [FieldSearch.Keys]) -> [UnknownField] {
    if isEmpty { return [] }
    let schema = state.schema.schema
    return missing.filter { $0.count != 1 || schema?[$0[0].text] == nil }
      .map { UnknownField(name: $0.text, nearest: nearestField(to: $0)?.text) }
  }

  /// - Complexity: O(*n*).
  private func nearestField(to keys: FieldSearch.Keys) -> FieldSearch.Keys? {
    let unknown = missing(of: (1..<keys.count).map { Array(keys.prefix($0)) }).first?.count ?? keys.count
    var nearest = NearestName(to: keys[unknown - 1].text)
    if unknown == 1 { for field in state.schema.schema?.fields ?? [] { nearest.consider(field.name) } }
    let form = ValueForm(Value.self)
    let fields = form.makeFields()
    var records = state.records.makeIterator()
    while !nearest.isNear, let record = records.next() {
      fields.read(form.newestOrStored(record)) {
        for name in fields.names(behind: keys.prefix(unknown - 1)) { nearest.consider(name) }
      }
    }
    return nearest.name.map { keys.prefix(unknown - 1) + [FieldName($0)] + keys.dropFirst(unknown) }
  }
}

extension RecordFields {
  fileprivate func hasField(_ keys: FieldSearch.Keys) -> Bool {
    guard keys.count > 1 else { return contains(keys[0].text) }
    return dictionaries(at: keys.dropLast()).contains { $0[keys[keys.count - 1].text] != nil }
  }

  /// The names of the fields, or the keys of the dictionaries at the end of the path `keys`.
  fileprivate func names(behind keys: ArraySlice<FieldName>) -> [String] {
    keys.isEmpty ? names : dictionaries(at: keys).flatMap(\.keys)
  }

  private func dictionaries(at keys: ArraySlice<FieldName>) -> [PlistDictionary] {
    keys.first.flatMap { self[$0.text] }?.dictionaries(at: keys.dropFirst()) ?? []
  }
}

extension PlistValue {
  /// The dictionaries at the path `keys`. For an array, those of its elements.
  fileprivate func dictionaries(at keys: ArraySlice<FieldName>) -> [PlistDictionary] {
    switch self {
    case .array(let elements): return elements.flatMap { $0.dictionaries(at: keys) }
    case .dict(let dictionary):
      guard let key = keys.first else { return [dictionary] }
      return dictionary[key.text]?.dictionaries(at: keys.dropFirst()) ?? []
    default: return []
    }
  }
}

extension FieldSearch.Keys {
  fileprivate var text: String { FieldReference.path(self).title }
}

extension PredicatePath {
  /// The names on the path, without the places of elements; empty for the id.
  fileprivate var keys: FieldSearch.Keys {
    guard case .field(let root) = root else { return [] }
    return [root] + steps.compactMap(\.key)
  }
}
