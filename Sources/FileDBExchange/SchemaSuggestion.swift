import FileDB
import FileDBPlist

/// A proposal for a table's schema: rules that all of its records already keep.
public struct SchemaSuggestion: Sendable {
  /// A field, and the rules that it could declare.
  public struct Field: Sendable {
    /// The rules that the table declares already, and the proposed ones.
    public let rules: FieldSchema
    /// Whether the records have text there, which must be converted into the type first.
    public let needsConversion: Bool
  }

  /// The fields with a proposal, in the order of their names.
  public let fields: [Field]

  /// Proposes rules for a table:
  ///
  /// - the type that all values of a field have, or that all of its strings can be converted into and back without a
  ///   difference
  /// - `required` for a field that all records have
  /// - the allowed values for a field of text with few different values in many records
  /// - Complexity: O(*n*).
  public init(for table: TableSnapshot<Fields>) {
    var seen: [FieldName: SeenField] = [:]
    for record in table {
      for field in record.fields.dictionary {
        seen[FieldName(field.key), default: SeenField()].see(field.value)
      }
    }
    let schema = table.knownSchema
    fields = seen.sorted { compareUTF8($0.key.text, $1.key.text) < 0 }.compactMap { name, field in
      let former = schema?[name.text] ?? FieldSchema(name.text)
      let (rules, needsConversion) = field.rules(besides: former, count: table.count)
      return rules == former ? nil : Field(rules: rules, needsConversion: needsConversion)
    }
  }
}

private struct SeenField {
  private var count = 0
  private var types: Set<FieldType> = []
  /// The types as which all strings could be read.
  private var readings: [FieldType] = [.integer, .float, .bool, .date]
  private var texts: Set<[UInt8]> = []

  private static let mostTexts = 8
  private static let leastRecords = 40

  mutating func see(_ value: PlistValue) {
    count += 1
    types.insert(FieldType(of: value))
    guard let text = value.string else { return }
    if texts.count <= Self.mostTexts { texts.insert(Array(text.utf8)) }
    readings.removeAll { !$0.keeps(text) }
  }

  func rules(besides former: FieldSchema, count all: Int) -> (rules: FieldSchema, needsConversion: Bool) {
    var rules = former
    var needsConversion = false
    if former.type == nil, types.count == 1 {
      rules.type = types.first
      if types == [.string], let reading = readings.first {
        rules.type = reading
        needsConversion = true
      }
    }
    if count == all { rules.isRequired = true }
    let isChoice = texts.count <= Self.mostTexts && texts.count * 5 <= count && count >= Self.leastRecords
    if rules.type == .string, former.allowedValues == nil, isChoice {
      let values = texts.map { String(decoding: $0, as: UTF8.self) }.sorted { compareUTF8($0, $1) < 0 }
      rules.allowedValues = values.map { .string($0) }
    }
    return (rules, needsConversion)
  }
}

extension PlistValue {
  /// This value converted to another type without a loss; `nil` if it does not fit.
  package func converted(to type: FieldType) -> PlistValue? {
    if FieldType(of: self) == type { return self }
    switch (type, self) {
    case (.string, .array), (.string, .dict): return nil
    case (.string, _): return .string(DelimitedWriter.text(of: self))
    case (.integer, .real(let number)): return Int64(exactly: number).map { .integer($0) }
    case (.json, .string(let text)):
      return FieldType.json.value(of: text).flatMap { FieldType(of: $0) == .json ? $0 : nil }
    case (.json, _): return nil
    default: return type.value(of: self)
    }
  }
}
