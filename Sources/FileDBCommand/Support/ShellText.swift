/// Text as a POSIX shell reads it.
enum ShellText {
  /// One word, in quotes if it needs them.
  static func word(_ text: String) -> String { isPlain(text) ? text : quoted(text) }

  static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

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
