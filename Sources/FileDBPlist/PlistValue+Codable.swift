import FileDBEssentials

extension PlistValue: Codable {
  /// Reads the decoder's value as the narrowest type that it fits.
  ///
  /// Dates and data come last, because a JSON decoder would read numbers and strings as these.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: AnyKey.self) {
      let entries = try container.allKeys.map { key in
        PlistDictionary.Entry(
          key: key.stringValue, value: try container.decode(PlistValue.self, forKey: key))
      }
      self = .dict(PlistDictionary(lastOf: entries))
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var elements: [PlistValue] = []
      while !container.isAtEnd { elements.append(try container.decode(PlistValue.self)) }
      self = .array(elements)
      return
    }
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = PlistValue(value)
    } else if let value = try? container.decode(Double.self) {
      self = .real(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Date.self) {
      self = .date(value)
    } else {
      self = .data(try container.decode(Data.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements): try elements.encode(to: encoder)
    case .dict(let entries):
      var container = encoder.container(keyedBy: AnyKey.self)
      for entry in entries { try container.encode(entry.value, forKey: AnyKey(entry.key)) }
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .string(let value): try container.encode(value)
      case .integer(let value): try container.encode(value)
      case .unsigned(let value): try container.encode(value)
      case .real(let value): try container.encode(value)
      case .bool(let value): try container.encode(value)
      case .date(let value): try container.encode(value)
      case .data(let value): try container.encode(value)
      case .array, .dict: break
      }
    }
  }
}

/// A coding key with any name.
package struct AnyKey: CodingKey {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(_ text: String) { stringValue = text }
  package init?(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}
