import Foundation
import Testing

@testable import FileDBPlist

/// Keys, nesting, and records as the scanner cuts them out.
@Suite struct CanonicalDictTests {
  private func dict(_ keys: [String]) -> String {
    "<dict>\n" + keys.map { "\t<key>\($0)</key>\n\t<true/>\n" }.joined() + "</dict>\n"
  }

  @Test func keysMustAscendByTheirUnescapedBytes() {
    for keys in [
      ["a"], ["a", "b"], ["", "a"], ["a", "a "], ["a", "aa"], ["A", "a"], ["12345678", "123456780"],
      ["1234567", "12345678"],
      ["12345678a", "12345678b"], ["b", "bb", "c"], ["e\u{301}", "\u{E9}"], ["z", "\u{E9}"],
      ["\u{FFFD}", "\u{1F600}"],
      // As they stand, the escapes of these come in another order.
      ["&#13;", "&amp;"], ["%", "&amp;"], ["&amp;", "'"], ["&lt;", "="], ["1", "&lt;"], ["&lt;", "&gt;"],
      ["a&amp;", "aa"],
      ["a", "a&#13;"], ["&amp;a", "&amp;b"], ["a&amp;", "a&amp;&amp;"], ["&#13;", "!"], ["=", "&gt;"],
    ] {
      #expect(canonicalReading(dict(keys)) != nil, "\(keys)")
      #expect(canonicalReading(dict(keys)) == rewritableReading(Array(dict(keys).utf8)))
      if keys.count > 1 { #expect(canonicalReading(dict(keys.reversed())) == nil, "\(keys) turned round") }
      #expect(canonicalReading(dict(keys + [keys[keys.count - 1]])) == nil, "\(keys) twice")
    }
  }

  /// A key's text is followed by `<`, which is neither the least nor the greatest of bytes.
  @Test func everyPairOfShortKeysIsOrderedByUnescapedBytes() {
    let characters = ["", " ", "&lt;", "&gt;", "&amp;", "&#13;", "\n", ";", "=", "l", "~", "\u{E9}"]
    let keys = ["", "1234567"].flatMap { start in
      characters.flatMap { a in characters.map { start + a + $0 } }
    }
    for one in keys {
      for other in keys {
        var (left, right) = (one, other)
        left.unescape()
        right.unescape()
        let isAscending = compareUTF8(left, right) < 0
        #expect((canonicalReading(dict([one, other])) != nil) == isAscending, "\([one, other])")
      }
    }
  }

  @Test func indentationMustBeExact() throws {
    let value: PlistValue = ["a": ["b", ["c": 1]]]
    for indentation in [0, 1, 6, 7, 8, 9, 20] {
      let body = try canonicalBody(value, indentation: indentation)
      #expect(canonicalReading(body, indentation: indentation) == value)
      #expect(canonicalReading(body, indentation: indentation + 1) == nil)
      if indentation > 0 { #expect(canonicalReading(body, indentation: indentation - 1) == nil) }
      for place in body.indices where body[place] == 0x09 {
        var changed = body
        changed[place] = UInt8(ascii: " ")
        #expect(canonicalReading(changed, indentation: indentation) == nil)
        changed.remove(at: place)
        #expect(canonicalReading(changed, indentation: indentation) == nil)
        changed.insert(contentsOf: [0x09, 0x09], at: place)
        #expect(canonicalReading(changed, indentation: indentation) == nil)
      }
    }
  }

  @Test(arguments: [1, 2, 3, 8, 9, 255, 256, 257]) func nestingBeyondLimitIsRefused(depth: Int) throws {
    var value: PlistValue = depth % 2 == 0 ? [:] : []
    for level in 1..<depth { value = level % 2 == 0 ? [value] : ["a": value] }
    let body = try canonicalBody(value, limits: PlistLimits(depth: depth))
    #expect(canonicalReading(body, limits: PlistLimits(depth: depth)) == value)
    #expect(canonicalReading(body, limits: PlistLimits(depth: depth - 1)) == nil)
    #expect((canonicalReading(body) == nil) == (depth > 256))
  }

  @Test func linesOfTextAreNotMistakenForTags() throws {
    let value: PlistValue = [
      "a": ["\n\t\t", "\n\t</array>\n", "\n", "\t\n\t"], "a\n": ["\n\t</dict>": "\n\t\t"],
      "b\n\t": [["\n\t": "\n"]],
    ]
    let body = try canonicalBody(value)
    #expect(canonicalReading(body) == value)
  }

  @Test func scanDictReturnsRangeAndNumberOfEachRecord() throws {
    let records: [PlistValue] = [
      ["id": "1"], ["a": "b", "id": "9223372036854775807", "z": [["id": "7"]]], ["id": "0", "i": [:]],
      ["id": "20", "idd": "x"],
    ]
    var writer = PlistWriter()
    writer.append("<array>\n" as StaticString)
    for record in records { writer.append(record, indentation: 1) }
    writer.append("</array>\n" as StaticString)
    writer.bytes.withUnsafeBytes { bytes in
      var scanner = CanonicalScanner(bytes)
      var skipped = ["<array>\n\t<dict>\n\t<", "<array>\n"].map { scanner.skip($0) }
      #expect(skipped == [false, true])
      var numbers: [Int64] = []
      for record in records {
        let start = scanner.position
        guard let (range, number) = scanner.scanDict(indentation: 1, numberKey: "id") else {
          Issue.record("\(record) is refused")
          return
        }
        numbers.append(number)
        #expect(range == start..<scanner.position)
        let reader = CanonicalReader(UnsafeRawBufferPointer(rebasing: bytes[range]))
        #expect(reader.value(of: reader.dict(indentation: 1)) == record)
        #expect(reader.element(indentation: 1) == reader.dict(indentation: 1))
      }
      #expect(numbers == [1, .max, 0, 20])
      let end = scanner.position
      let (record, value) = (
        scanner.scanDict(indentation: 1, numberKey: "id"), scanner.scanValue(indentation: 1)
      )
      let key = scanner.scanKey(indentation: 1)
      #expect(record == nil && value == nil && key == nil && scanner.position == end)
      skipped = ["</array>\n", "<"].map { scanner.skip($0) }
      #expect(skipped == [true, false] && scanner.isAtEnd)
    }
  }

  @Test(arguments: [
    "<string></string>", "<string>01</string>", "<string>-1</string>", "<string>+1</string>",
    "<string>1 </string>",
    "<string>a</string>", "<string>1&amp;</string>", "<string>9223372036854775808</string>",
    "<string>00000000000000000001</string>", "<integer>1</integer>", "<true/>",
  ])
  func scanDictRefusesDictionaryWithoutValidNumber(value: String) {
    let lines = "<dict>\n\t<key>id</key>\n\t\(value)\n</dict>\n"
    #expect(canonicalReading(lines) != nil)
    for key in ["id", "i", "idd", "x"] as [StaticString] {
      Array(lines.utf8).withUnsafeBytes { bytes in
        var scanner = CanonicalScanner(bytes)
        let found = scanner.scanDict(indentation: 0, numberKey: key)
        #expect(found == nil && scanner.position == 0)
      }
    }
  }

  @Test func scanDictAppliesLimits() {
    Array("<dict>\n\t<key>id</key>\n\t<string>12</string>\n</dict>\n".utf8).withUnsafeBytes { bytes in
      for (limits, isAccepted) in [
        (PlistLimits(depth: 1, valueBytes: 2), true), (PlistLimits(depth: 0), false),
        (PlistLimits(valueBytes: 1), false),
      ] {
        var scanner = CanonicalScanner(bytes, limits: limits)
        let found = scanner.scanDict(indentation: 0, numberKey: "id")
        #expect((found != nil) == isAccepted)
      }
    }
  }

  @Test func isAscendingComparesUnescapedKeys() {
    Array("\t<key>a</key>\n\t<key>a&amp;</key>\n\t<key>a'</key>\n\t<key>a</key>".utf8).withUnsafeBytes {
      bytes in
      var scanner = CanonicalScanner(bytes)
      let keys = (0..<3).compactMap { _ in scanner.scanKey(indentation: 1) }
      #expect(keys.map { CanonicalReader(bytes).text($0) } == ["a", "a&", "a'"])
      let cut = scanner.scanKey(indentation: 1)
      #expect(cut == nil)
      for (one, left) in keys.enumerated() {
        for (other, right) in keys.enumerated() {
          #expect(CanonicalReader(bytes).bytes.isAscending(left, right) == (one < other))
        }
      }
    }
  }
}

extension String {
  fileprivate mutating func unescape() {
    for (escape, character) in [("&lt;", "<"), ("&gt;", ">"), ("&#13;", "\r"), ("&amp;", "&")] {
      replace(escape, with: character)
    }
  }
}
