import FileDB
import FileDBPlist

/// What a value becomes if it is written in a format that does not keep every type, and read without a type.
package struct WrittenForm: Sendable {
  package let value: @Sendable (PlistValue) -> PlistValue

  package init(_ value: @escaping @Sendable (PlistValue) -> PlistValue) { self.value = value }

  static let delimited = WrittenForm { .string(DelimitedWriter.text(of: $0)) }

  /// The parts of arrays and dictionaries have this form, too.
  static let json = WrittenForm { value in
    switch value {
    case .date(let date): .string(PlistDate.text(date))
    case .data: .string(DelimitedWriter.text(of: value))
    case .real(let number) where !number.isFinite: .string(DelimitedWriter.text(of: value))
    default: value
    }
  }
}

/// Gives values that were read back the types that the same record's values have.
package struct OwnTypes: Sendable {
  private let form: WrittenForm
  /// Fields whose values have the right type already.
  private let typed: Set<FieldName>

  /// - Parameters:
  ///   - types: the types that the import was given, by the names in the file.
  ///   - schema: the types as which the rows were read.
  package init(_ form: WrittenForm, given types: [String: FieldType], schema: TableSchema?) {
    self.form = form
    let prefix = "fields."  // In a file, a name may have it.
    let given = types.keys.flatMap { [$0, $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0] }
    // A schema says nothing about the parts of an array or a dictionary.
    let declared = (schema?.fields ?? []).filter { $0.type != nil && $0.type != .json }.map(\.name)
    typed = Set((given + declared).map { FieldName($0) })
  }

  /// `fields` with the values of `own` where the format writes both alike. A value that differs gets the type of its
  /// own value if the format writes it alike then.
  func restored(_ fields: Fields, from own: Fields) -> Fields {
    var fields = fields
    for field in fields.dictionary where !typed.contains(FieldName(field.key)) {
      guard let former = own[field.key], former != field.value else { continue }
      fields[field.key] = field.value.restored(from: former, form)
    }
    return fields
  }
}

extension PlistValue {
  /// This value with the types of `own`, as far as `form` does not tell them apart.
  func restored(from own: PlistValue, _ form: WrittenForm) -> PlistValue {
    switch (self, own) {
    case (.array(let elements), .array(let former)):
      return .array(
        elements.enumerated().map { index, element in
          index < former.count ? element.restored(from: former[index], .json) : element
        })
    case (.dict(let entries), .dict(let former)):
      return .dict(
        entries.mapValues { key, value in former[key].map { value.restored(from: $0, .json) } ?? value })
    case (.string(let text), .array), (.string(let text), .dict):
      guard case .string = form.value(own), let parsed = FieldType.json.value(of: text),
        parsed.typeName == own.typeName
      else { return self }
      return parsed.restored(from: own, .json)
    case (.array, _), (.dict, _): return self
    default:
      let written = form.value(self)
      if written == form.value(own) { return own }
      // Text that was read as a date, because the column has dates, too.
      if case .string(let former) = own, date != nil, FieldType.date.value(of: former) == self { return own }
      let text = DelimitedWriter.text(of: self)
      return own.scalarTypes.lazy.compactMap { $0.value(of: text) }.first { value in
        // A day may also be written with its time.
        form.value(value) == written || (value.date != nil && FieldType.date.keeps(text))
      } ?? self
    }
  }

  /// The type of this value. For a number, the other kind of number comes after it.
  private var scalarTypes: [FieldType] {
    switch self {
    case .integer, .unsigned: [.integer, .float]
    case .real: [.float, .integer]
    default: [FieldType(of: self)]
    }
  }
}
