extension PlistValue: CustomStringConvertible {
  /// The value as you would write it in Swift. Dates are written as in the file. For data, it shows only the length.
  public var description: String {
    switch self {
    case .string(let text): text.debugDescription
    case .integer(let number): number.description
    case .unsigned(let number): number.description
    case .real(let number): number.description
    case .bool(let value): value.description
    case .date(let date): PlistDate.text(date)
    case .data(let data): "<\(data.count) bytes>"
    case .array(let elements): elements.description
    case .dict(let entries): entries.description
    }
  }
}

extension PlistDictionary: CustomStringConvertible {
  public var description: String {
    isEmpty ? "[:]" : "[" + map { "\($0.key.debugDescription): \($0.value)" }.joined(separator: ", ") + "]"
  }
}
