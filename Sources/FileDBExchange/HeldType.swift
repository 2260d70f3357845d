import FileDB

/// The type of a field, or of a part of it, in all records of a table that have it.
indirect enum HeldType {
  case nothing
  /// Values of different types.
  case several
  case scalar(FieldType)
  /// Integers and reals.
  case numbers
  /// The type that the table's schema declares.
  case declared(FieldType)
  case array(elements: HeldType)
  case dictionary([FieldName: HeldType])

  mutating func see(_ value: PlistValue) {
    switch (self, value) {
    case (.several, _), (.declared, _), (.numbers, .integer), (.numbers, .unsigned), (.numbers, .real): return
    case (.nothing, .array), (.array, .array), (.nothing, .dict), (.dictionary, .dict): seeParts(of: value)
    case (.nothing, _): self = FieldType(ofScalar: value).map(HeldType.scalar) ?? .several
    case (.scalar(.integer), .real), (.scalar(.float), .integer), (.scalar(.float), .unsigned):
      self = .numbers
    case (.scalar(let type), _): if FieldType(ofScalar: value) != type { self = .several }
    default: self = .several
    }
  }

  private mutating func seeParts(of value: PlistValue) {
    let former = self
    self = .nothing  // So that the parts are not copied.
    switch value {
    case .array(let elements):
      var parts = HeldType.nothing
      if case .array(let seen) = consume former { parts = seen }
      for element in elements { parts.see(element) }
      self = .array(elements: parts)
    case .dict(let entries):
      var parts: [FieldName: HeldType] = [:]
      if case .dictionary(let seen) = consume former { parts = seen }
      for entry in entries { parts[FieldName(entry.key), default: .nothing].see(entry.value) }
      self = .dictionary(parts)
    default: break
    }
  }

  /// The type of a whole field; `nil` if it is not a single type.
  var fieldType: FieldType? {
    switch self {
    case .nothing, .several, .numbers: nil
    case .scalar(let type), .declared(let type): type
    case .array, .dictionary: .json
    }
  }

  /// The type as which text is read; `nil` if it is not known.
  var textType: FieldType? { if case .numbers = self { .float } else { fieldType } }

  /// Whether text that is read as `type` becomes the same value here.
  func agrees(with type: FieldType) -> Bool {
    if case .numbers = self { type == .integer || type == .float } else { fieldType == type }
  }

  /// Why a value must have this type, for an error.
  var reason: String {
    switch self {
    case .declared: "the table's schema says so"
    default: "the table has only such values in this field"
    }
  }

  /// Whether to tell the user that this type was used instead of the file's.
  var isSurprising: Bool { if case .declared = self { false } else { true } }

  /// Why a value with this text does not have the type, for an error.
  func misfit(of text: String) -> String {
    switch self {
    case .array: "'\(text)' is not an array"
    case .dictionary: "'\(text)' is not a dictionary"
    default: textType?.misfit(of: text) ?? "'\(text)' is not a value"
    }
  }

  /// `value`, which may be text, converted to the type of this field. A part of it that does not fit stays as it is.
  /// - Returns: `nil` if the whole does not fit.
  func value(of value: PlistValue) -> PlistValue? {
    switch (self, value) {
    case (.nothing, _), (.several, _): return value
    case (.declared(.json), .string(let text)):
      guard let parsed = FieldType.json.value(of: text), FieldType(of: parsed) == .json else { return nil }
      return parsed
    case (.numbers, .integer), (.numbers, .unsigned), (.numbers, .real): return value
    case (.numbers, _):
      let real = FieldType.float.value(of: value)
      return real == .real(-0.0) ? real : FieldType.integer.value(of: value) ?? real
    case (.scalar(let type), _), (.declared(let type), _): return type.value(of: value)
    case (.array, .string(let text)), (.dictionary, .string(let text)):
      guard let parsed = FieldType.json.value(of: text), parsed.string == nil else { return nil }
      return self.value(of: parsed)
    case (.array(let type), .array(let elements)): return .array(elements.map { type.value(of: $0) ?? $0 })
    case (.dictionary(let types), .dict(let entries)):
      return .dict(
        entries.mapValues { key, value in
          types[FieldName(key)].flatMap { $0.value(of: value) } ?? value
        })
    default: return nil
    }
  }
}

extension FieldType {
  /// The type of a value; `nil` for an array or a dictionary.
  fileprivate init?(ofScalar value: PlistValue) {
    self.init(of: value)
    if self == .json { return nil }
  }
}
