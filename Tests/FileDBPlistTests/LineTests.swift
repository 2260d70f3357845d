import Testing

@testable import FileDBPlist

/// The lines of values, which are looked up only when something is wrong with one.
@Suite struct LineTests {
  private static let document = Array(
    """
    <?xml version="1.0"?>
    <!-- a note -->
    <plist version="1.0">
    <dict>
      <key>data</key>
      <array>
        <dict>
          <key>title</key>
          <string>two
          lines</string>
        </dict>
        <integer>1</integer><real>2</real>
        <array><dict><key>é</key>
          <true/></dict></array>
      </array>
      <key></key>
      <data
        />
    </dict>
    </plist>
    """.utf8)

  @Test func linesOfAllElementsAreFoundInOneReading() {
    func lines(_ path: [PlistStep], _ count: Int) -> [Int?] {
      let found = PlistParser.elementLines(of: path, in: Self.document)
      return (0..<count).map { found.line(ofElement: $0) }
    }
    #expect(lines([.key("data")], 5) == [7, 12, 12, 13, nil])
    #expect(lines([.key("data"), .index(3)], 2) == [13, nil])
    #expect(lines([.key("none")], 1) == [nil])
    #expect(lines([], 1) == [nil])
  }

  @Test func linesOfFieldsAreFoundInTheSameReading() {
    let found = PlistParser.elementLines(of: [.key("data")], in: Self.document)
    #expect(found.line(of: "title", inElement: 0) == 9)
    #expect(found.line(of: "none", inElement: 0) == nil)
    #expect(found.line(of: "title", inElement: 1) == nil)
    // This one lies deeper.
    #expect(found.line(of: "é", inElement: 3) == nil)
    let deeper = PlistParser.elementLines(of: [.key("data"), .index(3)], in: Self.document)
    #expect(deeper.line(of: "é", inElement: 0) == 14)
    #expect(deeper.line(of: "e\u{301}", inElement: 0) == nil)
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func everyLineEndCounts(lineEnd: String) throws {
    let lines = ["<plist>", "<array>", "<string>a", "b</string>", "<true/>", "<tru/></array></plist>"]
    let document = Array(lines.joined(separator: lineEnd).utf8)
    #expect(PlistParser.line(of: [.index(1)], in: document) == 5)
    // However the file is cut into pieces.
    for length in 1...document.count {
      var parser = PlistParser()
      let error = #expect(throws: PlistError.self) {
        try document.withUnsafeBytes { bytes in
          for start in stride(from: 0, to: bytes.count, by: length) {
            try parser.push(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + length, bytes.count)]))
          }
        }
        _ = try parser.finish()
      }
      #expect(error?.line == 6, "pieces of \(length)")
    }
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func everyLineEndIsLineFeedInText(lineEnd: String) throws {
    let document = Array("<plist>\(lineEnd)<string>a\(lineEnd)\(lineEnd)b</string></plist>".utf8)
    #expect(try PlistParser.parse(document) == "a\n\nb")
  }

  @Test func lineOfValueIsThatOfItsStartTag() {
    let lines: [([PlistStep], Int?)] = [
      ([], 4),
      ([.key("data")], 6),
      ([.key("data"), .index(0)], 7),
      ([.key("data"), .index(0), .key("title")], 9),
      ([.key("data"), .index(1)], 12),
      ([.key("data"), .index(2)], 12),
      ([.key("data"), .index(3)], 13),
      ([.key("data"), .index(3), .index(0), .key("é")], 14),
      // Another key than the one above, though Unicode holds them equivalent.
      ([.key("data"), .index(3), .index(0), .key("e\u{301}")], nil),
      ([.key("")], 18),
      ([.key("data"), .index(4)], nil),
      ([.key("data"), .key("title")], nil),
      ([.index(0)], nil),
      ([.key("index")], nil),
    ]
    for (path, line) in lines { #expect(PlistParser.line(of: path, in: Self.document) == line, "\(path)") }
  }

  @Test func linesBeforeBrokenPlaceAreFound() {
    let bytes = Array("<plist>\n<array>\n<true/>\n<true>no</true>\n<true/>\n".utf8)
    #expect(PlistParser.line(of: [.index(0)], in: bytes) == 3)
    #expect(PlistParser.line(of: [.index(1)], in: bytes) == 4)
    #expect(PlistParser.line(of: [.index(2)], in: bytes) == nil)
    #expect(PlistParser.line(of: [], in: []) == nil)
  }

  @Test func lineOfValueMayExceed65535() {
    let text = "<plist><array>" + String(repeating: "\n<true/>", count: 70_000) + "</array></plist>"
    #expect(PlistParser.line(of: [.index(69_999)], in: Array(text.utf8)) == 70_001)
  }
}
