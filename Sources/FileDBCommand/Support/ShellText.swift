/// Text in the syntax of a POSIX shell.
enum ShellText {
  /// The text as one word, in quotes if necessary.
  static func word(_ text: String) -> String { isPlain(text) ? text : quoted(text) }

  static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

  /// The words of an unfinished line. The last word is the one at the cursor, and may be empty.
  static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Character?
    var isEscaped = false
    for character in line {
      switch (character, quote) {
      case _ where isEscaped:
        word.append(character)
        isEscaped = false
      case ("\\", nil), ("\\", "\""): isEscaped = true
      case (_, let open?) where open == character: quote = nil
      case (_, _?): word.append(character)
      case ("'", nil), ("\"", nil): quote = character
      case (_, nil) where character.isWhitespace:
        if !word.isEmpty { words.append(word) }
        word = ""
      case (_, nil): word.append(character)
      }
    }
    return words + [word]
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
