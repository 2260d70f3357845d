import FileDBPlist

/// The rules of one field that can be checked with the value alone, prepared for checking many values.
package struct ValueRules: Sendable {
  package let field: FieldSchema
  private let pattern: TextPattern?

  /// - Parameter field: a field of a valid schema.
  package init(_ field: FieldSchema) {
    self.field = field
    pattern = field.pattern.flatMap { try? TextPattern($0) }
  }

  /// An error that names the first rule that `value` breaks, the value, and the field.
  /// - Complexity: O(*n* · *p*) at worst, in the lengths of the text and of the pattern.
  package func misfit(of value: PlistValue) -> StoreError? {
    if let type = field.type, !type.holds(value) {
      return StoreError(
        .wrongType, "\(value.quoted) is \(FieldType(of: value).noun), and the field holds \(type.noun)",
        field: field.name)
    }
    if let allowed = field.allowedValues, !allowed.contains(value) {
      return refusal("\(value.quoted) is not one of the allowed values: \(PlistValue.list(allowed))")
    }
    if let minimum = field.minimum {
      guard let order = ValueBound.compare(value, minimum) else { return refusal(value, "minimum", minimum) }
      if order < 0 { return refusal("\(value.quoted) is below the minimum, \(minimum.quoted)") }
    }
    if let maximum = field.maximum {
      guard let order = ValueBound.compare(value, maximum) else { return refusal(value, "maximum", maximum) }
      if order > 0 { return refusal("\(value.quoted) is above the maximum, \(maximum.quoted)") }
    }
    if let pattern, let source = field.pattern {
      guard let text = value.string else {
        return refusal("\(value.quoted) is not a string, and the field has a pattern")
      }
      if !pattern.matches(text) { return refusal("\(value.quoted) does not match the pattern \(source)") }
    }
    return nil
  }

  /// For a value that is neither below nor above a bound.
  private func refusal(_ value: PlistValue, _ name: String, _ bound: PlistValue) -> StoreError {
    let kind = FieldType(of: value) == FieldType(of: bound) ? "not a number" : FieldType(of: value).noun
    return refusal("\(value.quoted) is \(kind), which cannot be compared with the \(name), \(bound.quoted)")
  }

  private func refusal(_ message: String) -> StoreError {
    StoreError(.valueNotAllowed, message, field: field.name)
  }
}

/// A minimum or a maximum.
package enum ValueBound {
  /// Negative if `left` comes first; `nil` if one of them is neither a number nor a date, or if they are not of one kind.
  package static func compare(_ left: PlistValue, _ right: PlistValue) -> Int? {
    left.canBeBound && right.canBeBound ? ValueOrder.compareAlike(left, right) : nil
  }
}

extension PlistValue {
  fileprivate var canBeBound: Bool {
    switch self {
    case .integer, .unsigned, .date: true
    case .real(let number): !number.isNaN
    case .string, .bool, .data, .array, .dict: false
    }
  }

  /// The value for a message: shortened, with quotes around a string.
  package var quoted: String {
    switch self {
    case .string(let text): "'\(text.count > 60 ? text.prefix(60) + "…" : text[...])'"
    case .integer, .unsigned, .bool, .date: description
    case .real(let number): PlistWriter.text(number)
    case .data(let data): "data of \(data.count) bytes"
    case .array(let elements): "an array of \(elements.count)"
    case .dict(let entries): "a dictionary of \(entries.count)"
    }
  }

  package static func list(_ values: [PlistValue]) -> String {
    let named = values.prefix(12).map(\.quoted).joined(separator: ", ")
    return values.count > 12 ? "\(named) and \(values.count - 12) more" : named
  }
}

extension FieldType {
  /// Whether a value has this type. A whole number is not a float, so that values keep their types.
  package func holds(_ value: PlistValue) -> Bool { FieldType(of: value) == self }
}
