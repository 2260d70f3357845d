import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Gives a type the values that it asks for while it is decoded, and records them. The values come from example records,
/// or are made up where these have none.
final class FieldProbe {
  /// How the record differs from one that has the first value in each field.
  enum Difference {
    case none
    /// The field at this path has another value.
    case altered([String])
    /// The field at this path is missing.
    case missing([String])
  }

  private let difference: Difference
  private let form: ValueForm
  private let examples: [PlistValue]
  private(set) var decoded: [[String]: Any] = [:]
  /// The names that lead to values without fields of their own.
  private(set) var scalars: [[String]] = []

  /// - Parameters:
  ///   - form: the form of the type that is to be decoded.
  ///   - examples: records that the type can decode.
  init(_ form: ValueForm, examples: [Fields], _ difference: Difference) {
    (self.form, self.difference) = (form, difference)
    self.examples = examples.map { .dict($0.dictionary) }
  }

  func decode<Value: Decodable>(_ type: Value.Type, at path: [any CodingKey]) throws -> Value {
    let names = path.map(\.stringValue)
    let known = scalars.count
    let value: Value
    if let scalars = madeUp(type) {
      value = try scalar(found(type, at: names) + scalars, at: names)
    } else {
      do { value = try Value(from: ProbeDecoder(probe: self, codingPath: path)) } catch {
        // This is an enum or checks its values, and accepts only its own.
        let values = found(type, at: names) + (Self.cases(of: type) ?? prototype(type, at: names) ?? [])
        if values.isEmpty { throw error }
        scalars.removeSubrange(known...)
        value = try scalar(values, at: names)
      }
    }
    decoded[names] = value
    return value
  }

  func isMissing(_ path: [any CodingKey]) -> Bool {
    if case .missing(let names) = difference { names == path.map(\.stringValue) } else { false }
  }

  /// The different values that the examples have there.
  private func found<Value: Decodable>(_ type: Value.Type, at names: [String]) -> [Any] {
    var held: [PlistValue] = []
    for example in examples {
      guard let value = names.reduce(example, { $0?.dict?[$1] }), !held.contains(value) else { continue }
      held.append(value)
    }
    return held.compactMap { try? ElementDecoder($0).decode(type) }
  }

  private static func cases(of type: Any.Type) -> [Any]? {
    func values<Value: CaseIterable>(_ type: Value.Type) -> [Any] { Array(type.allCases) }
    return (type as? any CaseIterable.Type).map { values($0) }
  }

  /// The value that the prototype of a ``DefaultedValue`` has there, in an array.
  private func prototype<Value: Decodable>(_ type: Value.Type, at names: [String]) -> [Any]? {
    guard names.count == 1, let field = form.defaultValue(of: names[0]) else { return nil }
    return (try? ElementDecoder(field).decode(type)).map { [$0] }
  }

  /// The first of these values, or the second if this is the altered scalar.
  private func scalar<Value>(_ values: [Any], at names: [String]) throws -> Value {
    if !scalars.contains(names) { scalars.append(names) }
    guard let value = (isAltered(names) ? values.dropFirst() : values[...]).first as? Value else {
      throw DecodingError.valueNotFound(
        Value.self, DecodingError.Context(codingPath: [], debugDescription: "there is no other one"))
    }
    return value
  }

  private func isAltered(_ names: [String]) -> Bool {
    if case .altered(names) = difference { true } else { false }
  }

  /// Whether the array at `path` has an element.
  func hasElement(at path: [any CodingKey]) -> Bool {
    let names = path.map(\.stringValue)
    if !scalars.contains(names) { scalars.append(names) }
    return isAltered(names)
  }

  /// Two values of a scalar type, chosen so that values computed from one hardly ever equal it; `nil` for other types.
  private func madeUp(_ type: Any.Type) -> [Any]? {
    switch type {
    case is Bool.Type: [false, true]
    case is String.Type: [" Ab\u{e9} z9 ", "\tqX\u{e4} 7Y "]
    case is Double.Type: [-37.25, 101.75]
    case is Float.Type: [Float(-37.25), Float(101.75)]
    case is Date.Type: [Date(timeIntervalSince1970: -37.25), Date(timeIntervalSince1970: 4_000_101.75)]
    case is Data.Type: [Data([37, 0]), Data([101, 7])]
    case is URL.Type: [URL(string: "a:/B/?c#d"), URL(string: "e:/F/?g#h")].compactMap(\.self)
    case is UUID.Type: [UUID(uuid: (3, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), UUID()]
    case is ExactDate.Type:
      [ExactDate(Date(timeIntervalSince1970: -37.25)), ExactDate(Date(timeIntervalSince1970: 4_000_101.75))]
    case is Decimal.Type: [Decimal(-37.25), Decimal(101.75)]
    case let type as any RecordIdentifier.Type: Self.ids(type)
    case is PlistValue.Type: [PlistValue.integer(-37), PlistValue.integer(101)]
    case let type as any FixedWidthInteger.Type: Self.numbers(type)
    default: nil
    }
  }

  private static func ids<ID: RecordIdentifier>(_ type: ID.Type) -> [Any] {
    [ID(AnyRecordID(counted: 37)), ID(AnyRecordID(counted: 101))]
  }

  private static func numbers<Number: FixedWidthInteger>(_ type: Number.Type) -> [Any] {
    [Number(Number.isSigned ? -37 : 37), Number(101)]
  }
}

/// The id of a record in some table.
private protocol RecordIdentifier {
  init(_ id: AnyRecordID)
}

extension RecordID: RecordIdentifier {}

/// Gives a type the values that a ``FieldProbe`` makes up.
struct ProbeDecoder: Decoder {
  let probe: FieldProbe
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Keyed(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer {
    Elements(decoder: self, count: probe.hasElement(at: codingPath) ? 1 : 0)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  fileprivate func below(_ key: any CodingKey) -> ProbeDecoder {
    ProbeDecoder(probe: probe, codingPath: codingPath + [key])
  }

  /// Without a limit, a type that contains itself would never end.
  fileprivate var isDeepest: Bool { codingPath.count >= 8 }

  private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    /// Used by types that take any key, such as dictionaries.
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { !decoder.isDeepest && !decoder.probe.isMissing(codingPath + [key]) }
    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      let path = codingPath + [key]
      if decoder.probe.isMissing(path) { return try MissingField.decode(type, key, in: codingPath) }
      return try decoder.probe.decode(type, at: path)
    }

    /// `nil` for a type that refuses made-up values. Then only an optional property of this type cannot be found.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
      contains(key) ? try? decode(type, forKey: key) : nil
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
      try decoder.probe.decode(type, at: codingPath + [key])
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
      try decoder.probe.decode(type, at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { decoder.below(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
      decoder.below(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder.below(AnyKey("super")) }
    func superDecoder(forKey key: Key) -> any Decoder { decoder.below(key) }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isDeepest }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try decoder.probe.decode(type, at: codingPath)
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try decoder.probe.decode(type, at: codingPath) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.probe.decode(type, at: codingPath) }
  }

  private struct Elements: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    let count: Int?
    private(set) var currentIndex = 0

    init(decoder: ProbeDecoder, count: Int) { (self.decoder, self.count) = (decoder, count) }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var isAtEnd: Bool { currentIndex == count }

    private mutating func next() -> ProbeDecoder {
      defer { currentIndex += 1 }
      return decoder.below(ElementKey(currentIndex))
    }

    func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try decoder.probe.decode(type, at: next().codingPath)
    }

    mutating func decode(_ type: Int128.Type) throws -> Int128 {
      try decoder.probe.decode(type, at: next().codingPath)
    }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
      try decoder.probe.decode(type, at: next().codingPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> { next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { next().unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { next() }
  }
}
