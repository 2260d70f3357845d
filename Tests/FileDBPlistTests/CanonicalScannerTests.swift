import Foundation
import Testing

@testable import FileDBPlist

/// Each rule of the canonical form by itself.
@Suite struct CanonicalScannerTests {
  @Test func eachKindIsReadInItsCanonicalFormOnly() {
    #expect(canonicalReading("<string>a\tb\nc</string>\n") == "a\tb\nc")
    #expect(canonicalReading("<string></string>\n") == "")
    #expect(canonicalReading("<true/>\n") == true)
    #expect(canonicalReading("<false/>\n") == false)
    #expect(canonicalReading("<array/>\n") == [])
    #expect(canonicalReading("<dict/>\n") == [:])
    #expect(canonicalReading("<data>\n</data>\n") == .data(Data()))
    #expect(
      canonicalReading("<date>2024-02-29T12:00:00Z</date>\n")
        == .date(Date(timeIntervalSince1970: 1_709_208_000)))
    for other in [
      "", "<string>a</string>", "<string>a</string>\r\n", "\t<string>a</string>\n", "<string >a</string>\n",
      "<string>a</string >\n", "<string/>\n", "<true></true>\n", "<true />\n", "<true/>", "<false/>",
      "<False/>\n",
      "<array></array>\n", "<array>\n</array>\n", "<dict></dict>\n", "<dict>\n</dict>\n", "<data/>\n",
      "<data></data>\n",
      "<key>a</key>\n", "<plist/>\n", "<integer/>\n", "<real/>\n", "<date/>\n", "text\n", "\n",
    ] {
      #expect(canonicalReading(other) == nil, "\(other)")
    }
  }

  @Test func onlyFourEscapesAreAllowedInText() {
    #expect(canonicalReading("<string>&lt;&gt;&amp;&#13;\"'</string>\n") == "<>&\r\"'")
    for text in [
      "&", "&;", "&lt", "&LT;", "&quot;", "&apos;", "&#x3C;", "&#60;", "&#xD;", "&#013;", "&#10;", "&#9;",
      "&nbsp;", ">", "]]>",
      "<!---->", "<![CDATA[]]>", "<a/>", "\r",
    ] {
      #expect(canonicalReading("<string>\(text)</string>\n") == nil, "\(text)")
    }
  }

  /// Behind 0 to 8 other bytes, so that they come at every place of a word.
  @Test func textMayHoldOnlyCharactersOfXML() {
    let sound: [[UInt8]] = [
      [0x09], [0x0A], [0x20], [0x7E], [0x7F], [0xC2, 0x80], [0xC2, 0x85], [0xDF, 0xBF], [0xE0, 0xA0, 0x80],
      [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBB, 0xBF], [0xEF, 0xBF, 0xBD],
      [0xF0, 0x90, 0x80, 0x80],
      [0xF0, 0x9F, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF],
    ]
    let broken: [[UInt8]] = [
      [0x00], [0x01], [0x08], [0x0B], [0x0C], [0x0E], [0x1F], [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF],
      [0xC2],
      [0xC2, 0xC2], [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xEF, 0xBF, 0xBE],
      [0xEF, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]
    for before in 0...8 {
      for (characters, isSound) in sound.map({ ($0, true) }) + broken.map({ ($0, false) }) {
        let text = Array(repeating: UInt8(ascii: "a"), count: before) + characters + Array("b".utf8)
        let read = canonicalReading("<string>".utf8 + text + "</string>\n".utf8)
        #expect(
          read == (isSound ? .string(String(decoding: text, as: UTF8.self)) : nil), "\(before), \(characters)"
        )
      }
    }
  }

  @Test func integersMustBeInShortestForm() {
    for text in [
      "0", "1", "-1", "42", "999999999999999999", "9223372036854775807", "-9223372036854775808",
      "9223372036854775808",
      "18446744073709551615",
    ] {
      #expect(canonicalReading("<integer>\(text)</integer>\n")?.description == text)
    }
    for text in [
      "", "-", "-0", "00", "01", "-01", "+1", " 1", "1 ", "0x1", "1.0", "1e3", "--1", "-9223372036854775809",
      "18446744073709551616", "99999999999999999999", "100000000000000000000", "٣",
    ] {
      #expect(canonicalReading("<integer>\(text)</integer>\n") == nil, "\(text)")
    }
  }

  @Test func realsMustBeInShortestForm() {
    for text in [
      "0", "-0", "1", "-1", "100", "0.1", "-0.1", "0.0001", "0.00012", "1e-05", "123456789012345",
      "1234567890123456",
      "18014398509481984", "1e+16", "1e+17", "0.1234567890123", "0.30000000000000004", "12345.678901234567",
      "5e-324",
      "1.7976931348623157e+308", "-2.2250738585072014e-308", "nan", "+infinity", "-infinity",
    ] {
      let body = "<real>\(text)</real>\n"
      #expect((canonicalReading(body) == nil) == (rewritableReading(Array(body.utf8)) == nil), "\(text)")
    }
    for text in [
      "", "-", ".", "1.", ".1", "-.1", "0.0", "1.0", "1.10", "00", "01", "00.1", "+1", " 1", "1 ", "0.00001",
      "0.000010",
      "0.1000000000000000055", "0.30000000000000005", "0.10000000000000001", "9007199254740993",
      "12345678901234567",
      "1e5", "1E+17", "1e17", "1e+017", "1e400", "NaN", "inf", "infinity", "-nan", "+nan", "1,5", "0x1p3",
    ] {
      #expect(canonicalReading("<real>\(text)</real>\n") == nil, "\(text)")
    }
  }

  /// Decimals of up to sixteen digits with the point at every place: those that need no comparison are right without
  /// it.
  @Test func decimalsMustBeAsTheWriterWritesThem() {
    for digits in [
      "1", "9", "12", "99", "10", "123456789012345", "999999999999999", "1234567890123456",
      "9007199254740993",
    ] {
      for zeros in ["", "0", "00", "000", "0000", "00000"] {
        for point in 0...digits.count {
          let text = "\(digits.prefix(point)).\(zeros)\(digits.dropFirst(point))"
          for number in [text, "0\(text)", "-\(text)", "-0\(text)", digits + zeros] {
            let body = Array("<real>\(number)</real>\n".utf8)
            #expect(canonicalReading(body) == rewritableReading(body), "\(number)")
          }
        }
      }
    }
  }

  @Test func datesMustNameAnExistingSecondInUTC() {
    for text in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2000-02-29T00:00:00Z"] {
      #expect(canonicalReading("<date>\(text)</date>\n")?.description == text)
    }
    for text in [
      "0000-01-01T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z",
      "2024-01-01T00:00:60Z", "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", " 2024-01-01T00:00:00Z",
      "2024-01-01T00:00:00Z ", "2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00.0Z", "",
    ] {
      #expect(canonicalReading("<date>\(text)</date>\n") == nil, "\(text)")
    }
  }

  @Test func base64MustHaveTheLinesOfTheWriter() {
    let line = String(repeating: "QUJD", count: 19)
    for lines in ["QQ==\n", "QUI=\n", "QUJD\n", "\(line)\n", "\(line)\nQQ==\n", "\(line)\n\(line)\n"] {
      #expect(canonicalReading("<data>\n\(lines)</data>\n") != nil, "\(lines)")
    }
    for lines in [
      "\n", "QUJD", "QUJD \n", " QUJD\n", "\tQUJD\n", "QUJD\r\n", "QQ\n", "QUI\n", "QUJ\n", "QQ=\n",
      "QQ===\n", "Q===\n", "=\n",
      "====\n", "QQ==QUJD\n", "QR==\n", "QUJ=\n", "QUJD\nQUJD\n", "\(line)QUJD\n", "\(line)\n\n",
      "\(line.dropLast(4))\nQUJD\n",
      "\(line.dropLast(4))QQ==\nQUJD\n", "QU-_\n", "QU*D\n", "QUJ&#68;\n",
    ] {
      #expect(canonicalReading("<data>\n\(lines)</data>\n") == nil, "\(lines)")
    }
  }

  /// Bits behind the last byte are dropped by the reader, so only zeros come back as they were.
  @Test func unusedBitsOfBase64MustBeZero() {
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
      for group in ["Q\(last)==", "QU\(last)=", "QUJ\(last)"] {
        let body = Array("<data>\n\(group)\n</data>\n".utf8)
        #expect(canonicalReading(body) == rewritableReading(body), "\(group)")
      }
    }
  }

  /// Beyond eight tabs the lines of base64 have fewer than the closing tag.
  @Test func base64IsReadAtEveryIndentation() throws {
    for indentation in 0...12 {
      for count in 0...60 {
        let value = PlistValue.data(Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151) }))
        let body = try canonicalBody(value, indentation: indentation)
        #expect(canonicalReading(body, indentation: indentation) == value, "\(count) bytes at \(indentation)")
      }
    }
  }

  /// A line of the index map is a canonical number, an id or an index, at any distance from the end of the file.
  @Test func linesOfTheIndexMapAreCanonicalNumbers() {
    let numbers = [
      "0", "1", "9", "10", "123456789", "99999999999999999", "999999999999999999", "1000000000000000000",
      "9223372036854775807", "9223372036854775808", "9999999999999999999", "10000000000000000000",
      "18446744073709551616", "99999999999999999999999", "00", "01", "007", "", "-1", "+1", " 1", "1 ", "1a",
      "a1", "1.",
      "１", "1\u{301}",
    ]
    for key in numbers {
      for value in numbers {
        let line = Array("\t\t<key>\(key)</key>\n\t\t<string>\(value)</string>\n".utf8)
        let expected = [key, value].map { text in
          Int64(text).flatMap { $0 >= 0 && String($0) == text ? $0 : nil }
        }
        for rest in [0, 1, 30, 100] {
          // Of exactly the size, so that a sanitizer notices a byte beyond.
          let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count + rest, alignment: 1)
          defer { memory.deallocate() }
          memory.copyBytes(from: line + [UInt8](repeating: 0x20, count: rest))
          var scanner = CanonicalScanner(UnsafeRawBufferPointer(memory), limits: PlistLimits())
          let found = scanner.scanNumbers()
          let isNumber = !expected.contains(nil)
          #expect(
            found?.key == (isNumber ? expected[0] : nil) && found?.value == (isNumber ? expected[1] : nil))
          #expect(scanner.position == (isNumber ? line.count : 0))
        }
      }
    }
    let line = Array("\t\t<key>12</key>\n\t\t<string>34</string>\n".utf8)
    for length in line.indices {
      line[..<length].withUnsafeBytes { cut in
        var scanner = CanonicalScanner(cut, limits: PlistLimits())
        #expect(scanner.scanNumbers() == nil && scanner.position == 0, "\(length) bytes")
      }
    }
  }
}
