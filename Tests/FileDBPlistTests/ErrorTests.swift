import Foundation
import Testing

@testable import FileDBPlist

/// Every reason, each with its place.
@Suite struct ErrorTests {
  struct Example: CustomTestStringConvertible, Sendable {
    let text: String
    let reason: PlistError.Reason
    let line: Int?
    let column: Int?
    var limits = PlistLimits()

    init(
      _ text: String, _ reason: PlistError.Reason, line: Int?, column: Int?,
      limits: PlistLimits = PlistLimits()
    ) {
      (self.text, self.reason, self.line, self.column, self.limits) = (text, reason, line, column, limits)
    }

    /// An example whose `body` begins on line 4.
    init(
      body: String, _ reason: PlistError.Reason, line: Int = 4, column: Int,
      limits: PlistLimits = PlistLimits()
    ) {
      self.init(
        PlistWriter.header + body + "\n</plist>\n", reason, line: line, column: column, limits: limits)
    }

    var testDescription: String { "\(reason)" }
  }

  static let examples = [
    Example("", .empty, line: nil, column: nil),
    Example(" \n\t\r\n", .empty, line: nil, column: nil),
    Example("bplist00\u{1}", .binaryPropertyList, line: nil, column: nil),
    Example("bplist16\u{1}", .unknownBinaryPropertyList(version: "16"), line: nil, column: nil),
    Example("{ title = \"a: b\"; }", .oldStylePropertyList, line: nil, column: nil),
    Example("( a, b )", .oldStylePropertyList, line: nil, column: nil),
    Example("<0fbd77 1c2735ae>", .oldStylePropertyList, line: nil, column: nil),
    Example("// a comment\n{ a = b; }", .oldStylePropertyList, line: nil, column: nil),
    Example("{ \"a=b\": 1 }", .json, line: nil, column: nil),
    Example("[1, 2]", .json, line: nil, column: nil),
    Example(" {}", .json, line: nil, column: nil),
    Example("title,done\n", .notPropertyList(found: "it does not begin with '<'"), line: 1, column: nil),
    Example("\0\0\0\0", .notPropertyList(found: "it begins with a NUL byte"), line: 1, column: nil),
    Example("<html>\n</html>", .notPropertyList(found: "its root element is <html>"), line: 1, column: 6),
    Example("<dict/>", .notPropertyList(found: "its root element is <dict>"), line: 1, column: 6),
    Example(
      "<?xml version='1.0' encoding = 'ISO-8859-1'?><plist/>", .unsupportedEncoding("ISO-8859-1"), line: 1,
      column: nil),
    Example(body: "<string>a & b</string>", .malformed("xmlParseEntityRef: no name"), column: 12),
    Example(
      body: "<string a=\"1\n2\" a='3'>a</string>", .malformed("Attribute a redefined"), line: 5, column: 9),
    Example(
      "<plist><true/></plist>\n<true/>", .malformed("there is more after </plist>"), line: 2, column: 1),
    Example("<plist><true/></plist>\nmilk", .malformed("there is more after </plist>"), line: 2, column: 1),
    Example("<plist><true/></plist>\n\0\0", .malformed("there is more after </plist>"), line: 2, column: 1),
    Example("<plist>\n<array>\n  <string>Buy m", .truncated, line: 3, column: 16),
    Example("<plist>\n<array>\n  <stri", .truncated, line: 3, column: 8),
    Example("<plist>\n<!-- <true/></plist>\n", .truncated, line: 3, column: 1),
    Example(
      "<!DOCTYPE plist\n[<!ENTITY a 'b'>]>\n<plist/>", .documentTypeDeclaration, line: 2, column: 1),
    Example(body: "<string>a&nbsp;b</string>", .undefinedEntity, column: 16),
    Example(body: "<array>\n  <uuid/>\n</array>", .unexpectedElement("uuid"), line: 5, column: 8),
    Example(body: "<string/>\n<string/>", .unexpectedElement("string"), line: 5, column: 8),
    Example(body: "<string><true/></string>", .unexpectedElement("true"), column: 14),
    Example(body: "<array><true><string/></true></array>", .unexpectedElement("string"), column: 21),
    Example(body: "<plist><true/></plist>", .unexpectedElement("plist"), column: 7),
    Example(body: "<p:string xmlns:p='p'/>", .unexpectedElement("p:string"), column: 22),
    Example(body: "<p:string/>", .malformed("Namespace prefix p on string is not defined"), column: 10),
    Example(body: "<array><key>a</key></array>", .unexpectedElement("key"), column: 12),
    Example(body: "<array>milk</array>", .unexpectedText, column: 8),
    Example(body: "<array>\n  two\nlines\n<true/></array>", .unexpectedText, line: 5, column: 3),
    Example(body: "<integer><![CDATA[1]]></integer>", .unexpectedText, column: 19),
    Example(body: "<dict>\n<string>a</string></dict>", .missingKey, line: 5, column: 8),
    Example(body: "<dict><key>a</key>\n</dict>", .missingValue(key: "a"), line: 5, column: 8),
    Example(body: "<dict><key>a</key>\n<key>b</key></dict>", .missingValue(key: "a"), line: 5, column: 5),
    Example("<plist>\n</plist>", .missingRoot, line: 2, column: 9),
    Example(
      body: "<dict><key>a</key><true/>\n<key>a</key><true/></dict>", .duplicateKey("a"), line: 5, column: 13),
    Example(
      body: "<dict><key>a</key><true/><key>b</key><true/>\n<key>a</key><true/></dict>", .duplicateKey("a"),
      line: 5, column: 27),
    Example(body: "<integer>\n1.5</integer>", .invalidInteger("\n1.5"), line: 5, column: 14),
    Example(body: "<real>1e400</real>", .invalidReal("1e400"), column: 19),
    Example(body: "<date>2023-02-29T00:00:00Z</date>", .invalidDate("2023-02-29T00:00:00Z"), column: 34),
    Example(body: "<data>QQ</data>", .invalidData, column: 16),
    Example(
      body: "<array>\n<array>\n<array/></array></array>", .tooDeep(limit: 2), line: 6, column: 7,
      limits: PlistLimits(depth: 2)),
    Example(
      body: "<string>four</string>", .valueTooLarge(limit: 3), column: 13, limits: PlistLimits(valueBytes: 3)),
    Example(
      "<plist><true/></plist>", .fileTooLarge(limit: 21), line: nil, column: nil,
      limits: PlistLimits(fileBytes: 21)),
  ]

  @Test(arguments: examples) func errorGivesReasonLineAndColumn(example: Example) {
    let expected = PlistError(example.reason, line: example.line, column: example.column)
    #expect(throws: expected) { try PlistParser.parse(Array(example.text.utf8), limits: example.limits) }
  }

  /// These errors have no line, for nothing is in a file yet.
  @Test func unrepresentableValuesAreRefused() {
    let refused: [(PlistValue, PlistError.Reason)] = [
      ("a\u{0}", .unrepresentableCharacter("\u{0}")),
      (["\u{1F}": 1], .unrepresentableCharacter("\u{1F}")),
      (.array(["\u{FFFE}"]), .unrepresentableCharacter("\u{FFFE}")),
      ("\u{FFFF}", .unrepresentableCharacter("\u{FFFF}")),
      (.date(Date(timeIntervalSince1970: 253_402_300_800)), .dateOutOfRange),
      (.date(Date(timeIntervalSince1970: -62_135_596_800.5)), .dateOutOfRange),
      (.date(Date(timeIntervalSince1970: .nan)), .dateOutOfRange),
      (.date(.distantPast.addingTimeInterval(-.infinity)), .dateOutOfRange),
    ]
    for (value, reason) in refused {
      #expect(throws: PlistError(reason)) { try PlistWriter.document(value) }
    }
  }

  /// What one program may write, another must be able to read.
  @Test func writerAppliesLimitsOfParser() throws {
    func refuses(_ value: PlistValue, _ limits: PlistLimits, _ reason: PlistError.Reason) {
      #expect(throws: PlistError(reason)) { try PlistWriter.document(value, limits: limits) }
    }
    refuses([[[]]], PlistLimits(depth: 2), .tooDeep(limit: 2))
    refuses(["a": ["b": ["c": 1]]], PlistLimits(depth: 2), .tooDeep(limit: 2))
    refuses("four", PlistLimits(valueBytes: 3), .valueTooLarge(limit: 3))
    refuses(["four": 1], PlistLimits(valueBytes: 3), .valueTooLarge(limit: 3))
    refuses(.data(Data(count: 4)), PlistLimits(valueBytes: 7), .valueTooLarge(limit: 7))
    let document = try PlistWriter.document("four")
    refuses("four", PlistLimits(fileBytes: document.count - 1), .fileTooLarge(limit: document.count - 1))

    let exact = PlistLimits(depth: 2, valueBytes: 8, fileBytes: 400)
    for value: PlistValue in [[[]], "8 bytes.", ["8 bytes.": .data(Data(count: 6))]] {
      let bytes = try PlistWriter.document(value, limits: exact)
      #expect(try PlistParser.parse(bytes, limits: exact) == value)
    }
  }

  @Test func everyReasonHasExampleAndMessage() {
    let written: [PlistError.Reason] = [.unrepresentableCharacter("\u{0}"), .dateOutOfRange]
    let reasons = Self.examples.map(\.reason) + written
    #expect(Set(reasons.map(number)) == Set(0..<numberOfReasons))
    for reason in reasons { #expect(!PlistError(reason).message.isEmpty) }
  }

  @Test func descriptionBeginsWithLineAndColumn() {
    #expect(PlistError(.missingKey).description == "a value in <dict> without a <key>")
    #expect(PlistError(.missingKey, line: 5).description == "line 5: a value in <dict> without a <key>")
    let placed = PlistError(.unrepresentableCharacter("\u{B}"), line: 5, column: 8)
    #expect(placed.description == "line 5, column 8: XML cannot hold the character U+000B; store it as data")
  }

  @Test func lineOfErrorMayExceed65535() {
    let text = PlistWriter.header + String(repeating: "\n", count: 70_000) + "<nothing/>"
    #expect(throws: PlistError(.unexpectedElement("nothing"), line: 70_004, column: 9)) {
      try PlistParser.parse(Array(text.utf8))
    }
  }
}

private let numberOfReasons = 26

/// A number for each reason; a new one stops the compiler here, and wants an example.
private func number(_ reason: PlistError.Reason) -> Int {
  switch reason {
  case .empty: 0
  case .binaryPropertyList: 1
  case .oldStylePropertyList: 2
  case .json: 3
  case .notPropertyList: 4
  case .unsupportedEncoding: 5
  case .malformed: 6
  case .truncated: 7
  case .documentTypeDeclaration: 8
  case .undefinedEntity: 9
  case .unexpectedElement: 10
  case .unexpectedText: 11
  case .missingKey: 12
  case .missingValue: 13
  case .missingRoot: 14
  case .duplicateKey: 15
  case .invalidInteger: 16
  case .invalidReal: 17
  case .invalidDate: 18
  case .invalidData: 19
  case .tooDeep: 20
  case .valueTooLarge: 21
  case .fileTooLarge: 22
  case .unrepresentableCharacter: 23
  case .dateOutOfRange: 24
  case .unknownBinaryPropertyList: 25
  }
}

/// What other programs write, and what a property list can do without.
@Suite struct LenienceTests {
  @Test(arguments: [
    "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<plist version=\"1.0\"><string>é</string></plist>",
    "<?xml version=\"1.0\" encoding='utf-16le'?>\n<plist version=\"1.0\"><string>é</string></plist>",
    "<plist xmlns=\"http://example.com/a\" version=\"1.0\"><string>é</string></plist>",
    "<plist xmlns=\"a b\"><string>é</string></plist>", "<plist xmlns=\"relative\"><string>é</string></plist>",
    "<?xml version=\"1.0\"?><?a:b?><plist><?c:d e?><string>é</string></plist>",
  ])
  func whatMeansNothingDoesNotMatter(text: String) throws {
    #expect(try PlistParser.parse(Array(text.utf8)) == "é")
  }
}
