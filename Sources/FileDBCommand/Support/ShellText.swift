/// Text in the syntax of a POSIX shell, for commands that a person pastes. No program runs it.
enum ShellText {
  /// The text as one word, in quotes if necessary.
  static func word(_ text: String) -> String {
    if isPlain(text) { return text }
    return TerminalText.isObeyed(text) ? escaped(text) : quoted(text)
  }

  /// With escapes, as POSIX has them since 2024: a terminal would not show some of these characters.
  private static func escaped(_ text: String) -> String {
    let bytes = text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(Unicode.Scalar(byte))
      case 0x20..<0x7F: String(Unicode.Scalar(byte))
      default: "\\" + String(repeating: "0", count: byte < 8 ? 2 : byte < 64 ? 1 : 0) + String(byte, radix: 8)
      }
    }
    return "$'" + bytes.joined() + "'"
  }

  static func quoted(_ text: String) -> String { "'" + text.replacing(["'": #"'\''"#]) + "'" }

  /// The words of an unfinished line. The last word is the one at the cursor, and may be empty.
  static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word = String.UnicodeScalarView()
    var quote: Unicode.Scalar?
    var isEscaped = false
    for scalar in line.unicodeScalars {
      switch (scalar, quote) {
      case _ where isEscaped:
        word.append(scalar)
        isEscaped = false
      case ("\\", nil), ("\\", "\""): isEscaped = true
      case (_, let open?) where open == scalar: quote = nil
      case (_, _?): word.append(scalar)
      case ("'", nil), ("\"", nil): quote = scalar
      case (_, nil) where scalar.properties.isWhitespace:
        if !word.isEmpty { words.append(String(word)) }
        word.removeAll()
      case (_, nil): word.append(scalar)
      }
    }
    return words + [String(word)]
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.first != "-"
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
