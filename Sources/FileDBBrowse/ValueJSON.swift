import FileDB
import FileDBEssentials
import FileDBExchange

/// A value as it is sent. Strings and Booleans are sent directly. Any other value is an object with its type, so that
/// JavaScript's numbers lose nothing.
struct ValueJSON: Decodable {
  let value: PlistValue

  private enum Key: String, CodingKey {
    case integer, float, date, data, array, dictionary
  }

  init(from decoder: any Decoder) throws {
    guard let container = try? decoder.container(keyedBy: Key.self) else {
      let single = try decoder.singleValueContainer()
      value = try (try? single.decode(Bool.self)).map(PlistValue.bool) ?? .string(single.decode(String.self))
      return
    }
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a value has one type"))
    }
    value =
      switch key {
      case .integer: try Self.value(of: .integer, at: key, in: container)
      case .float: try Self.value(of: .float, at: key, in: container)
      case .date: try Self.value(of: .date, at: key, in: container)
      case .data: try Self.value(of: .data, at: key, in: container)
      case .array: .array(try container.decode([ValueJSON].self, forKey: key).map(\.value))
      case .dictionary: .dict(try container.decode([FieldJSON].self, forKey: key).dictionary())
      }
  }

  private static func value(
    of type: FieldType, at key: Key, in container: KeyedDecodingContainer<Key>
  ) throws -> PlistValue {
    let text = try container.decode(String.self, forKey: key)
    guard let value = type.value(of: text) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container, debugDescription: "'\(text.prefix(40))' is not \(type.expectation)")
    }
    return value
  }
}

/// A field and its value: `["name", value]`, or `["name", null]` for a field that is missing.
struct FieldJSON: Decodable {
  let name: String
  let value: PlistValue?

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    name = try container.decode(String.self)
    value = try container.decodeIfPresent(ValueJSON.self)?.value
  }
}

extension [FieldJSON] {
  /// - Throws: if a name occurs twice, or has no value.
  func dictionary() throws -> PlistDictionary {
    var dictionary = PlistDictionary()
    for field in self {
      guard let value = field.value, dictionary[field.name] == nil else {
        throw RequestError.malformed("The field '\(field.name)' needs one value.")
      }
      dictionary[field.name] = value
    }
    return dictionary
  }
}

extension JSON {
  /// The complete value.
  init(_ value: PlistValue) {
    switch value {
    case .string(let text): self = .string(text)
    case .bool(let value): self = .bool(value)
    case .integer, .unsigned: self = .object([("integer", .string(value.description))])
    case .real(let number): self = .object([("float", .string(Self.text(number)))])
    case .date: self = .object([("date", .string(value.description))])
    case .data(let data): self = .object([("data", .string(data.base64EncodedString()))])
    case .array(let elements): self = .object([("array", .array(elements.map { JSON($0) }))])
    case .dict(let entries):
      self = .object([("dictionary", .array(entries.map { .array([.string($0.key), JSON($0.value)]) }))])
    }
  }

  /// The number as it is written in the table's file.
  private static func text(_ number: Double) -> String {
    if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
    let text = number.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// The value for a list. A long value is shortened.
  init(inList value: PlistValue) {
    switch value {
    case .string(let text) where text.utf8.count > Self.longestText:
      let start = text.prefix(Self.longestText)
      self =
        start.endIndex == text.endIndex
        ? .string(text) : .object([("text", .string(String(start))), ("length", .number(text.utf16.count))])
    case .data(let data):
      self = .object([("bytes", .number(data.count)), ("media", JSON(Picture(data)?.mediaType))])
    case .array(let elements):
      let whole = JSON(value)
      self =
        whole.bytes.count > Self.longestTree
        ? .object([("array", .null), ("count", .number(elements.count))]) : whole
    case .dict(let entries):
      let whole = JSON(value)
      self =
        whole.bytes.count > Self.longestTree
        ? .object([("dictionary", .null), ("count", .number(entries.count))]) : whole
    default: self = JSON(value)
    }
  }

  private static let longestText = 300
  private static let longestTree = 600

  /// A record with complete values.
  init(whole record: StoredRecord<Fields>) { self.init(record) { JSON($0) } }

  /// A record for a list.
  init(inList record: StoredRecord<Fields>) { self.init(record) { JSON(inList: $0) } }

  private init(_ record: StoredRecord<Fields>, _ value: (PlistValue) -> JSON) {
    let fields = record.fields.dictionary.map { JSON.array([.string($0.key), value($0.value)]) }
    self = .object([("id", .string(record.id.description)), ("fields", .array(fields))])
  }
}

/// The kinds of pictures that a page may show. No other data is shown, even if it claims to be a picture.
enum Picture: String {
  case png, jpeg, gif, webp

  var mediaType: String { "image/\(rawValue)" }

  /// Recognizes a picture by its first bytes.
  init?(_ data: Data) {
    let start = Array(data.prefix(12))
    if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if start.starts(with: "GIF87a".utf8) || start.starts(with: "GIF89a".utf8) {
      self = .gif
    } else if start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WEBP".utf8) {
      self = .webp
    } else {
      return nil
    }
  }
}
