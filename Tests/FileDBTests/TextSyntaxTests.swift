import FileDBEssentials
import Testing

/// Marks are found although an accent follows, and percent codes are exactly two digits.
@Suite struct TextSyntaxTests {
  private static let marks = (1..<128).compactMap { Unicode.Scalar(UInt8($0)) }

  @Test(arguments: ["", "\u{301}"]) func everyMarkIsFound(accent: String) throws {
    for mark in Self.marks {
      let text = "x\(mark)\(accent)y\(mark)z"
      #expect(text.has(mark))
      guard !["x", "y", "z"].contains(mark) else { continue }
      #expect(
        text.parts(between: mark).map { Array($0.utf8) } == ["x", "\(accent)y", "z"].map { Array($0.utf8) })
      let cut = try #require(text.cut(at: mark))
      #expect(
        Array(cut.before.utf8) == Array("x".utf8) && Array(cut.after.utf8) == Array("\(accent)y\(mark)z".utf8)
      )
      #expect(Array(text.replacing([mark: "--"]).utf8) == Array("x--\(accent)y--z".utf8))
    }
    #expect("ab".cut(at: "c") == nil && !"ab".has("c") && "".parts(between: ",") == [""])
  }

  @Test func everyTextSurvivesPercentEncoding() {
    for mark in Self.marks {
      for text in ["\(mark)", "\(mark)\u{301}", "a\(mark)é€"] {
        let encoded = PercentEncoding.encode(text)
        let isPlain = encoded.utf8.allSatisfy { byte in
          "-._~%".utf8.contains(byte) || Character(Unicode.Scalar(byte)).isLetter
            || Character(Unicode.Scalar(byte)).isNumber
        }
        #expect(isPlain, "\(encoded)")
        #expect(PercentEncoding.decode(encoded.utf8).map { Array($0.utf8) } == Array(text.utf8), "\(encoded)")
      }
    }
  }

  @Test(arguments: ["%", "%4", "%+5", "%-5", "%4g", "% 4", "%ff", "%C3", "%%41"])
  func wrongPercentCodeIsRefused(text: String) {
    #expect(PercentEncoding.decode(text.utf8) == nil)
  }
}
