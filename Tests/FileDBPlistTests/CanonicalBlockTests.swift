import FileDBPlist
import TestSupport
import Testing

@Suite struct CanonicalBlockTests {
  private func written(_ text: [UInt8]) -> [UInt8]? {
    var block = CanonicalBlock()
    block.reserve(canonical: 3, text: text.count)
    block.append("<a>" as StaticString)
    let isText = text.withUnsafeBufferPointer { block.append(text: $0) }
    return isText ? Array(block.bytes.dropFirst(3)) : nil
  }

  /// `nil` for what a property list cannot hold.
  private func expected(_ text: [UInt8]) -> [UInt8]? {
    guard let text = String(validating: text, as: UTF8.self),
      let document = try? PlistWriter.document(.string(text))
    else { return nil }
    let marks = (start: Array("<string>".utf8).count, end: Array("</string>\n</plist>\n".utf8).count)
    return Array(document.dropFirst(PlistWriter.header.utf8.count + marks.start).dropLast(marks.end))
  }

  @Test func everyByteIsWrittenAsThePropertyListWriterWritesIt() {
    for byte in UInt8.min...UInt8.max {
      for place in 0..<10 {
        var text = Array("abcdefghij".utf8)
        text[place] = byte
        #expect(written(text) == expected(text), "\(byte) at \(place)")
      }
    }
  }

  @Test func everyTwoBytesBeyondASCIIAreTakenOrRefusedAsUTF8Is() {
    let tails: [[UInt8]] = [[], [0x80], [0x80, 0x80], [0xBF, 0xBF], [0x41]]
    for lead in UInt8(0x80)...UInt8.max {
      for second in UInt8(0x70)...UInt8.max {
        for tail in tails {
          let text = [lead, second] + tail
          #expect(written(text) == expected(text), "\(text)")
        }
      }
    }
  }

  @Test func randomTextsOfAnyLengthAreWritten() {
    var random = SeededRandom.fromEnvironment("canonical block")
    let parts = ["a", "<", ">", "&", "\r", "\n", "\t", "é", "漢", "😀", "\u{FFFD}", "]]>", "plain text", " "]
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 0..<30, using: &random)).map { _ in parts.randomElement(using: &random)!
      }
      let bytes = Array(text.joined().utf8)
      #expect(written(bytes) == expected(bytes), "seed \(random.seed)")
    }
  }
}
