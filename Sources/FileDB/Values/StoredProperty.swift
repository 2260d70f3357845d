import FileDBEssentials
import FileDBPlist
import FileDBTables
import Synchronization

/// Where a type stores one of its properties, and how it reads it.
struct StoredProperty: Sendable {
  let reference: FieldReference
  /// Whether the field by itself gives the property, in each record that has it.
  let isReadAlone: Bool
  /// What the type makes of a record without the field.
  let withoutField: Missing

  enum Missing: Sendable {
    case isNil, isRefused
    /// Something that only the type itself can tell, for example the value of an older field.
    case isOther
  }
}

extension StoredProperty {
  /// Unchecked because a path may have captured a subscript's argument. It is only compared here, and never changed.
  private struct Path: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  /// What was found is kept, so that it does not depend on the records of a later query.
  private static let known = Mutex<[Path: StoredProperty]>([:])
  /// The paths that cannot be found with made-up values alone.
  private static let difficult = Mutex<Set<Path>>([])

  /// Finds the property with made-up values or, if the type refuses these, with those of some records.
  /// - Returns: `nil` for a computed property, and if these records do not show it.
  static func find<Value: Codable, Field>(
    _ path: KeyPath<Value, Field>, in records: OrderedRecords = OrderedRecords()
  ) -> StoredProperty? {
    let key = Path(path: path)
    if let property = known.withLock({ $0[key] }) { return property }
    // Not while holding a lock, because this runs the type's own code.
    var found: StoredProperty?
    if !difficult.withLock({ $0.contains(key) }) { found = PropertySearch(path, examples: []).property }
    if found == nil {
      _ = difficult.withLock { $0.insert(key) }
      let examples = examples(of: path, in: records)
      if !examples.isEmpty { found = PropertySearch(path, examples: examples).property }
    }
    if let found { known.withLock { $0[key] = found } }
    return found
  }

  /// The first record that has the property, and the first with another value of it.
  private static func examples<Value: Codable, Field>(
    of path: KeyPath<Value, Field>, in records: OrderedRecords
  ) -> [Fields] {
    var reader = ValueReader<Value>()
    var (first, known): (Fields?, PlistValue?)
    for record in records.prefix(1_000) {
      guard let value = try? reader.value(of: record) else { continue }
      let property = storedForms(of: value[keyPath: path]).first ?? nil
      if first != nil, property == known || property == nil { continue }
      let fields = reader.form.newestOrStored(record).fields
      if let first, known != nil { return [first, fields] }
      (first, known) = (fields, property)
    }
    return first.map { [$0] } ?? []
  }

  /// What a property may be stored as; that of an `@ExactDate` is a plain date.
  fileprivate static func storedForms(of property: Any) -> [PlistValue?] {
    func encoded(_ value: some Encodable) -> PlistValue? {
      (try? FieldsEncoder.encodeValue(value, codingPath: [])) ?? nil
    }
    guard let value = property as? any Encodable else { return [] }
    return [encoded(value)] + ((value as? Date).map { [encoded(ExactDate($0))] } ?? [])
  }
}

/// Finds the field of a property: the one whose encoded value is the property's in every sample, and changes with it.
private struct PropertySearch<Value: Codable, Field> {
  private let samples: [Sample]
  private let path: KeyPath<Value, Field>
  private let examples: [Fields]

  init(_ path: KeyPath<Value, Field>, examples: [Fields]) {
    (self.path, self.examples) = (path, examples)
    guard let base = Sample(path, examples, .none) else {
      samples = []
      return
    }
    samples = [base] + base.scalars.compactMap { Sample(path, examples, .altered($0)) }
  }

  var property: StoredProperty? {
    guard let base = samples.first else { return nil }
    let found = base.entries.keys.filter { names in samples.allSatisfy { $0.isStored(at: names) } }
    guard found.count == 1, let names = found.first else { return nil }
    // A field of which nobody knows another value was not altered. Then the type must have decoded the property there.
    let isChanged = samples.contains { $0.forms.first != base.forms.first }
    guard isChanged || base.isDecoded(at: names) else { return nil }
    let without = Sample(path, examples, .missing(names.map(\.text)))
    return StoredProperty(
      reference: .path(names), isReadAlone: samples.allSatisfy { $0.isDecoded(at: names) },
      withoutField: without.map { $0.forms.first == .some(nil) ? .isNil : .isOther } ?? .isRefused)
  }

  /// A value decoded from given fields, and what it stores.
  private struct Sample {
    /// What the property may be stored as.
    let forms: [PlistValue?]
    /// All that the value stores, by the names that lead to it.
    let entries: [[FieldName]: PlistValue]
    let scalars: [[String]]
    private let decoded: [[String]: Any]

    /// - Returns: `nil` if the type refuses these fields.
    init?(_ path: KeyPath<Value, Field>, _ examples: [Fields], _ difference: FieldProbe.Difference) {
      let probe = FieldProbe(ValueForm(Value.self), examples: examples, difference)
      guard let value = try? Value(from: ProbeDecoder(probe: probe, codingPath: [])),
        let fields = try? FieldsEncoder.encodeWithoutVersion(value)
      else { return nil }
      (decoded, scalars) = (probe.decoded, probe.scalars)
      forms = StoredProperty.storedForms(of: value[keyPath: path])
      entries = fields.entriesAtAllDepths
    }

    func isStored(at names: [FieldName]) -> Bool { forms.contains(entries[names]) }

    /// Whether the property is what was decoded there.
    func isDecoded(at names: [FieldName]) -> Bool {
      guard let given = decoded[names.map(\.text)] else { return false }
      let plain = given is Field ? given : (given as? ExactDate)?.wrappedValue ?? given
      return plain is Field && StoredProperty.storedForms(of: plain).first == forms.first
    }
  }
}

extension Fields {
  /// The fields of a made-up value; `nil` for a type that refuses made-up fields.
  init?<Value: Codable>(probing type: Value.Type) {
    let probe = FieldProbe(ValueForm(type), examples: [], .none)
    guard let value = try? Value(from: ProbeDecoder(probe: probe, codingPath: [])),
      let fields = try? FieldsEncoder.encodeWithoutVersion(value)
    else { return nil }
    self = fields
  }

  /// All values, by the names that lead to them through dictionaries.
  fileprivate var entriesAtAllDepths: [[FieldName]: PlistValue] {
    var entries: [[FieldName]: PlistValue] = [:]
    func collect(_ fields: PlistDictionary, below names: [FieldName]) {
      for field in fields {
        let path = names + [FieldName(field.key)]
        entries[path] = field.value
        if case .dict(let inner) = field.value { collect(inner, below: path) }
      }
    }
    collect(dictionary, below: [])
    return entries
  }
}
