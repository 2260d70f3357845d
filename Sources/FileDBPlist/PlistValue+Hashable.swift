/// Equal values, which have the same canonical bytes, have the same hash.
extension PlistValue: Hashable {
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let text): hasher.combine(text)
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
      hasher.combine(entry.key)
      hasher.combine(entry.value)
    }
  }
}
