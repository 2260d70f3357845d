import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

/// Files that are cut off, damaged, or cut into pieces.
@Suite struct BrokenBytesTests {
  /// Something of everything that XML and a property list have.
  static let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <!-- a note --><?tool some="thing"?>
    <plist version="1.0">
    <dict>
      <key>ke<!-- in between -->y&#x20;&amp;\u{E9}</key>
      <array a='1'>
        <string>😀 a\u{301}&lt;<![CDATA[<&]]]]>&#13;\r\n</string><string/>
        <integer>-42</integer><real>0.1</real><true/><false></false>
        <date>2024-02-29T12:00:00Z</date>
        <data>
        QUJD
        RA==
        </data>
      </array>
      <key></key><dict/>
    </dict>
    </plist>
    <!-- the end -->

    """

  static let value: PlistValue = [
    "key &\u{E9}": [
      "😀 a\u{301}<<&]]\r\n", "", -42, 0.1, true, false,
      .date(Date(timeIntervalSince1970: 1_709_208_000)), .data(Data("ABCD".utf8)),
    ],
    "": [:],
  ]

  @Test(arguments: Encoding.allCases) func documentParsesTheSameInPiecesOfAnyLength(encoding: Encoding) throws
  {
    let bytes = encoding.bytes(Self.document)
    for length in [1, 2, 3, 5, 7, 64, bytes.count] {
      #expect(try parse(bytes, inPiecesOf: length) == Self.value, "pieces of \(length)")
    }
  }

  /// Each of the two halves may hold half a character, half a tag, half a line end.
  @Test(arguments: Encoding.allCases) func documentParsesTheSameWhereverItIsSplit(encoding: Encoding) throws {
    let bytes = encoding.bytes(Self.document)
    for cut in bytes.indices {
      var parser = PlistParser()
      for half in [Array(bytes[..<cut]), Array(bytes[cut...])] {
        try half.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
      }
      #expect(try parser.finish() == Self.value, "cut at \(cut)")
    }
  }

  /// As the test before, with the cuts beyond the bytes in which the encoding is looked for.
  @Test(arguments: Encoding.allCases) func longDocumentParsesTheSameInPieces(encoding: Encoding) throws {
    let text = "<plist><array>" + String(repeating: "<string>\u{1F600}\r\n\u{E9}a</string>", count: 300)
    let bytes = encoding.bytes(text + "</array></plist>")
    let expected = PlistValue.array(Array(repeating: "\u{1F600}\n\u{E9}a", count: 300))
    for length in [1, 2, 3, 7, 1025, 1027] {
      #expect(try parse(bytes, inPiecesOf: length) == expected, "pieces of \(length)")
    }
  }

  @Test(arguments: Encoding.allCases) func documentCutOffAnywhereIsRefused(encoding: Encoding) throws {
    let bytes = encoding.bytes(Self.document)
    let end = encoding.bytes(
      String(Self.document.prefix(upTo: Self.document.range(of: "</plist>")!.upperBound)))
    for count in 0..<end.count {
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      do throws(PlistError) {
        _ = try PlistParser.parse(Array(bytes.prefix(count)))
        Issue.record("cut off after \(count) bytes, the file was accepted: \(text.suffix(20))")
      } catch {
        switch error.reason {
        case .truncated, .malformed:
          let lines = encoding == .utf8 ? bytes.prefix(count).count { $0 == 0x0A } : 18
          #expect((1...(lines + 1)).contains(error.line ?? 0), "\(count): \(error)")
        case .empty: #expect(count <= 3)
        case .notPropertyList: #expect(count <= 3)
        default: Issue.record("cut off after \(count) bytes: \(error)")
        }
      }
    }
  }

  @Test func cutOffDocumentIsReportedAsTruncated() {
    let body = "<plist>\n<dict>\n<key>a</key><array><string>b</string></array></dict>\n</plist>"
    for count in 1..<body.utf8.count {
      let error = #expect(throws: PlistError.self) { try PlistParser.parse(Array(body.utf8.prefix(count))) }
      #expect(error?.reason == .truncated, "\(body.prefix(count))")
    }
  }

  @Test func utf16CutInsideCharacterIsRefusedWithItsLine() {
    for encoding in [Encoding.utf16BigEndian, .utf16LittleEndian] {
      let bytes = encoding.bytes("<plist>\n<string>\u{1F600}")
      for missing in 1...3 {
        let error = #expect(throws: PlistError.self) { try PlistParser.parse(Array(bytes.dropLast(missing))) }
        #expect(error == PlistError(.truncated, line: 2))
      }
      var units = encoding.bytes("<plist>\n<string>")
      units += encoding == .utf16BigEndian ? [0xD8, 0x3D, 0, 0x41] : [0x3D, 0xD8, 0x41, 0]
      #expect(throws: PlistError(.malformed("half a surrogate pair"), line: 2)) {
        try PlistParser.parse(units)
      }
      units.removeLast(4)
      units += encoding == .utf16BigEndian ? [0xDC, 0] : [0, 0xDC]
      #expect(throws: PlistError(.malformed("half a surrogate pair"), line: 2)) {
        try parse(units, inPiecesOf: 1)
      }
    }
  }

  @Test func nonASCIIByteInASCIIDocumentIsRefusedWithItsLine() {
    let text = "<?xml version='1.0' encoding='US-ASCII'?>\n<plist>\n<string>\u{E9}</string></plist>"
    for length in [1, 1_000] {
      let error = #expect(throws: PlistError.self) { try parse(Array(text.utf8), inPiecesOf: length) }
      #expect(error?.line == 3)
    }
  }

  /// Some damage goes unnoticed; what is read then must come back the same when it is written.
  @Test func damagedDocumentIsRefusedOrSurvivesRewriting() throws {
    var random = SeededRandom.fromEnvironment(#function)
    let documents = Encoding.allCases.map { $0.bytes(Self.document) }
    var accepted = 0
    for round in 0..<6_000 {
      var bytes = documents.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...3, using: &random) { damage(&bytes, &random) }
      do throws(PlistError) {
        let value = try parse(bytes, inPiecesOf: [1, 7, 100_000].randomElement(using: &random)!)
        let written = try PlistWriter.document(value)
        #expect(try PlistParser.parse(written) == value, "round \(round): \(bytes)")
        accepted += 1
      } catch {
        #expect(error.line != nil || concernsWholeFile(error.reason), "round \(round): \(error)")
      }
    }
    // Were all of them refused, half of this test would be idle.
    #expect(accepted > 100)
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard let place = bytes.indices.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 2: bytes.remove(at: place)
    case 3:
      let tokens = [
        "<", ">", "&", "\"", "<!--", "-->", "<![CDATA[", "]]>", "<?", "</", "/>", "&#0;", "\0", "\u{FEFF}",
      ]
      bytes.insert(contentsOf: tokens.randomElement(using: &random)!.utf8, at: place)
    default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
    }
  }

  enum Encoding: CaseIterable {
    case utf8, utf8WithMark, utf16LittleEndian, utf16BigEndian

    func bytes(_ text: String) -> [UInt8] {
      switch self {
      case .utf8: Array(text.utf8)
      case .utf8WithMark: [0xEF, 0xBB, 0xBF] + text.utf8
      case .utf16LittleEndian: ("\u{FEFF}" + text).utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      case .utf16BigEndian: ("\u{FEFF}" + text).utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
      }
    }
  }
}
