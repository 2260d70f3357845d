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
    #expect(PlistParser.lines(from: [.key("data"), .index(0)], in: Self.document) == [7, 12, 12, 13])
    #expect(PlistParser.lines(from: [.key("data"), .index(2)], in: Self.document) == [12, 13])
    #expect(PlistParser.lines(from: [.key("data")], in: Self.document) == [6])
    #expect(PlistParser.lines(from: [.key("none"), .index(0)], in: Self.document) == [])
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
