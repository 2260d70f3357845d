extension PlistValue: Hashable {
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let text): hasher.combine(utf8: text)
    case .integer(let number): hasher.combine(number)
    case .unsigned(let number): hasher.combine(number)
    case .real(let number): hasher.combine(number.isNaN ? Double.nan.bitPattern : number.bitPattern)
    case .bool(let value): hasher.combine(value)
    case .date(let date): hasher.combine(date)
    case .data(let data): hasher.combine(data)
    case .array(let elements): hasher.combine(elements)
    case .dict(let entries): hasher.combine(entries)
    }
  }
}

extension PlistDictionary: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for entry in self {
      hasher.combine(utf8: entry.key)
      hasher.combine(entry.value)
    }
  }
}

extension Hasher {
  /// Text is compared by its bytes.
  fileprivate mutating func combine(utf8 text: String) {
    combine(text.utf8.count)
    var text = text
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
