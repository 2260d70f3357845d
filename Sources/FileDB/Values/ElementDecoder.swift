import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Decodes one value of a record, at any depth, from its canonical bytes. What the type does not ask for is not read.
///
/// If a real is asked for, it accepts an integer. If an integer is asked for, it accepts a real without a fraction:
/// people write `2` for `2.0`.
///
/// A class that is its own container, so that decoding a scalar makes one object.
final class ElementDecoder: Decoder {
  private enum Content {
    /// The fields keep the bytes.
    case element(CanonicalElement, CanonicalReader, of: RecordFields)
    /// Neither an array nor a dictionary.
    case scalar(PlistValue)
  }

  private let content: Content
  private let parent: ElementDecoder?
  private let key: (any CodingKey)?

  init(
    _ element: CanonicalElement, _ reader: CanonicalReader, of fields: RecordFields,
    in parent: ElementDecoder?,
    _ key: any CodingKey
  ) {
    content = .element(element, reader, of: fields)
    (self.parent, self.key) = (parent, key)
  }

  /// For a value that is not in a record's bytes.
  init(_ value: PlistValue, in parent: ElementDecoder? = nil, _ key: (any CodingKey)? = nil) {
    (self.parent, self.key) = (parent, key)
    switch value {
    case .array, .dict:
      let fields = RecordFields(keeping: value)
      content = .element(fields.whole, fields.reader, of: fields)
    default: content = .scalar(value)
    }
  }

  var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .element(let element, _, let fields) = content, element.kind == .dict else {
      throw mismatch(PlistDictionary.self)
    }
    return KeyedDecodingContainer(FieldReader(fields: RecordFields(of: element, in: fields), parent: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .element(let array, let reader, let fields) = content, array.kind == .array else {
      throw mismatch([PlistValue].self)
    }
    var elements: [CanonicalElement] = []
    var rest = reader.elements(of: array)
    while let element = rest.next() { elements.append(element) }
    return ElementReader(array: self, elements: elements, reader: reader, fields: fields)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private var value: PlistValue {
    switch content {
    case .element(let element, let reader, _): reader.value(of: element)
    case .scalar(let value): value
    }
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    DecodingError.typeMismatch(
      type,
      DecodingError.Context(codingPath: codingPath, debugDescription: "<\(value.typeName)> is not \(type)"))
  }
}

extension ElementDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { false }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard let value = value.bool else { throw mismatch(type) }
    return value
  }

  func decode(_ type: String.Type) throws -> String {
    guard let value = value.string else { throw mismatch(type) }
    return value
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    case .unsigned(let number): return Double(number)
    default: throw mismatch(type)
    }
  }

  func decode(_ type: Float.Type) throws -> Float {
    let number = try decode(Double.self)
    guard Float(number).isFinite || !number.isFinite else { throw mismatch(type) }
    return Float(number)
  }

  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number? =
      switch value {
      case .integer(let number): Number(exactly: number)
      case .unsigned(let number): Number(exactly: number)
      case .real(let number): Number(exactly: number)
      case .string(let digits) where Number.bitWidth > 64: Number(digits)
      default: nil
      }
    guard let number else { throw mismatch(type) }
    return number
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let special = special(type) else { return try Value(from: self) }
    guard let value = special() as? Value else { throw mismatch(type) }
    return value
  }

  /// Reads a type that has a special form in a record instead of its `Codable` form; `nil` for other types.
  private func special(_ type: Any.Type) -> (() -> Any?)? {
    if type == Date.self { return { self.value.date } }
    if type == Data.self { return { self.value.data } }
    if type == UUID.self { return { self.value.string.flatMap { UUID(uuidString: $0) } } }
    if type == URL.self { return { self.value.string.flatMap { URL(string: $0) } } }
    if type == Decimal.self { return { Self.decimal(self.value) } }
    if type == Fields.self { return { self.value.dict.map(Fields.init) } }
    if type == PlistValue.self { return { self.value } }
    return nil
  }

  private static func decimal(_ value: PlistValue) -> Decimal? {
    switch value {
    case .string("NaN"): Decimal.nan
    // Foundation would accept the digits at the beginning of any text.
    case .string(let text) where Double(text)?.isFinite == true && !text.utf8.contains(UInt8(ascii: "x")):
      Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    case .integer(let number): Decimal(number)
    case .unsigned(let number): Decimal(number)
    case .real(let number): Decimal(string: PlistWriter.text(number))
    default: nil
    }
  }
}

/// The elements of an array.
private struct ElementReader: UnkeyedDecodingContainer {
  let array: ElementDecoder
  let elements: [CanonicalElement]
  let reader: CanonicalReader
  let fields: RecordFields
  fileprivate(set) var currentIndex = 0

  var codingPath: [any CodingKey] { array.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  /// An element that cannot be decoded is not passed.
  private mutating func next<Value>(_ read: (ElementDecoder) throws -> Value) throws -> Value {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Value.self,
        DecodingError.Context(
          codingPath: codingPath + [ElementKey(currentIndex)], debugDescription: "the array ends here"))
    }
    let element = ElementDecoder(
      elements[currentIndex], reader, of: fields, in: array, ElementKey(currentIndex))
    let result = try read(element)
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool { false }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try next { try $0.decode(type) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next { try $0.decode(type) } }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try next { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try next { try $0.container(keyedBy: type) } }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
