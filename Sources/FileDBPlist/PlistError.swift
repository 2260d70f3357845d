/// Why a property list could not be read, or a value could not be written, and where.
public struct PlistError: Error, Equatable, Sendable {
  /// The kinds of errors.
  public enum Reason: Equatable, Sendable {
    // The bytes are not an XML property list, but this.
    case empty
    case binaryPropertyList
    case unknownBinaryPropertyList(version: String)
    case oldStylePropertyList
    case json
    case notPropertyList(found: String)
    case unsupportedEncoding(String)
    // The XML is broken or cut off, or contains something that a property list must not.
    case malformed(String)
    case truncated
    case documentTypeDeclaration
    case undefinedEntity
    // The XML is well-formed, but not a property list.
    case unexpectedElement(String)
    case unexpectedText
    case missingKey
    case missingValue(key: String)
    case missingRoot
    case duplicateKey(String)
    case invalidInteger(String)
    case invalidReal(String)
    case invalidDate(String)
    case invalidData
    // A limit of ``PlistLimits`` is exceeded.
    case tooDeep(limit: Int)
    case valueTooLarge(limit: Int)
    case fileTooLarge(limit: Int)
    // The format cannot hold the value.
    case unrepresentableCharacter(Unicode.Scalar)
    case dateOutOfRange
  }

  /// What is wrong.
  public let reason: Reason
  /// The line, from 1; `nil` if the error has no place in a file.
  public let line: Int?
  /// The column, from 1, counted as libxml2 does: in Unicode scalars.
  public let column: Int?

  /// An error at this place.
  public init(_ reason: Reason, line: Int? = nil, column: Int? = nil) {
    self.reason = reason
    self.line = line
    self.column = column
  }
}

extension PlistError: CustomStringConvertible {
  public var description: String {
    guard let line else { return message }
    guard let column else { return "line \(line): \(message)" }
    return "line \(line), column \(column): \(message)"
  }

  /// The reason in words, without the place.
  public var message: String {
    switch reason {
    case .empty: "the file is empty"
    case .binaryPropertyList:
      "this is a binary property list; 'filedb import FILE TABLE' reads it, and on a Mac 'plutil -convert xml1 FILE' "
        + "converts it"
    case .unknownBinaryPropertyList(let version):
      "this is a binary property list of version \(version), which FileDB does not read; on a Mac, "
        + "'plutil -convert xml1 FILE' may convert it"
    case .oldStylePropertyList:
      "this is an old-style (OpenStep) property list; on a Mac, 'plutil -convert xml1 FILE' converts it"
    case .json: "this is JSON, not an XML property list"
    case .notPropertyList(let found): "this is not an XML property list: \(found)"
    case .unsupportedEncoding(let name): "the encoding \(name) is not supported; use UTF-8 or UTF-16"
    case .malformed(let detail): "malformed XML: \(detail)"
    case .truncated: "the file ends before </plist>: it is cut off, or something in it is not closed"
    case .documentTypeDeclaration: "declarations inside the document type are not allowed in a property list"
    case .undefinedEntity:
      "an entity that XML does not define; only &amp; &lt; &gt; &quot; &apos; are allowed"
    case .unexpectedElement(let name): "<\(name)> is not allowed here"
    case .unexpectedText: "text where only elements are allowed"
    case .missingKey: "a value in <dict> without a <key>"
    case .missingValue(let key): "the key '\(key)' has no value"
    case .missingRoot: "<plist> holds no value"
    case .duplicateKey(let key): "the key '\(key)' is in the dictionary twice"
    case .invalidInteger(let text): "'\(text)' is not an integer from -2^63 to 2^64-1"
    case .invalidReal(let text): "'\(text)' is not a number a double can hold"
    case .invalidDate(let text): "'\(text)' is not a date like 2024-02-29T12:00:00Z, from year 1 to 9999"
    case .invalidData: "this is not base64"
    case .tooDeep(let limit): "arrays and dictionaries are nested more than \(limit) deep"
    case .valueTooLarge(let limit): "a value is longer than \(limit) bytes"
    case .fileTooLarge(let limit): "the file is longer than \(limit) bytes"
    case .unrepresentableCharacter(let scalar):
      "XML cannot hold the character U+\(hexadecimal(scalar)); store it as data"
    case .dateOutOfRange: "a date must lie between the years 1 and 9999"
    }
  }

  private func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
