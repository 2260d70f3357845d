import FileDB
import FileDBExchange

/// A script with a command on each line. It is split into words as in a shell.
///
/// Spaces and tabs separate words. Between single quotes, every character stands for itself. Double quotes do the same,
/// except for `\"` and `\\`. Elsewhere, a backslash keeps the next character, and at the end of a line it joins the
/// next line. A `#` at the start of a word begins a comment.
struct Script {
  struct Command: Equatable {
    var words: [String]
    /// The line on which it begins, counted from 1.
    var line: Int
  }

  let name: String
  let commands: [Command]

  /// - Throws: ``StoreError`` for bytes that are not UTF-8, and for a quote that is never closed, with its line.
  init(_ bytes: [UInt8], name: String) throws {
    self.name = name
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw StoreError(.invalidText, "the script is not UTF-8 text", file: name)
    }
    var splitter = WordSplitter(bytes)
    var commands: [Command] = []
    while let command = try splitter.next(name: name) { commands.append(command) }
    self.commands = commands
  }
}

/// Splits the bytes into words: everything that separates words is ASCII.
private struct WordSplitter {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The command in the next line that is not empty; `nil` at the end.
  mutating func next(name: String) throws -> Script.Command? {
    var words: [String] = []
    var start = line
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\n"):
        take()
        if !words.isEmpty { return Script.Command(words: words, line: start) }
        start = line
      case UInt8(ascii: " "), UInt8(ascii: "\t"): take()
      case UInt8(ascii: "#"): while let next = peek(), next != UInt8(ascii: "\n") { take() }
      case UInt8(ascii: "\\") where isBeforeLineEnd:
        take()
        take()
      default: words.append(try word(name: name))
      }
    }
    return words.isEmpty ? nil : Script.Command(words: words, line: start)
  }

  private mutating func word(name: String) throws -> String {
    var word: [UInt8] = []
    while let byte = peek(), !Self.isGap(byte) {
      let start = line
      take()
      switch byte {
      case UInt8(ascii: "\\"):
        guard let next = take() else { break }
        if next != UInt8(ascii: "\n") { word.append(next) }
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        guard takeQuoted(until: byte, into: &word) else {
          throw StoreError(
            .invalidText, "a quote is opened here and never closed", file: name, line: start)
        }
      default: word.append(byte)
      }
    }
    return String(decoding: word, as: UTF8.self)
  }

  /// - Returns: false if the quote is never closed.
  private mutating func takeQuoted(until quote: UInt8, into word: inout [UInt8]) -> Bool {
    while let byte = take() {
      if byte == quote { return true }
      let isEscape = quote == UInt8(ascii: "\"") && byte == UInt8(ascii: "\\")
      if isEscape, let next = peek(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
        word.append(next)
        take()
      } else {
        word.append(byte)
      }
    }
    return false
  }

  private static func isGap(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
  }

  /// Whether the next byte is the last of its line.
  private var isBeforeLineEnd: Bool {
    var rest = self
    rest.take()
    return rest.peek() == UInt8(ascii: "\n")
  }

  /// The next byte; for a CRLF, the line feed. Does not consume it.
  private func peek() -> UInt8? {
    guard position < bytes.count else { return nil }
    return isCRLF ? UInt8(ascii: "\n") : bytes[position]
  }

  private var isCRLF: Bool {
    bytes[position] == 0x0D && position + 1 < bytes.count && bytes[position + 1] == 0x0A
  }

  @discardableResult
  private mutating func take() -> UInt8? {
    guard let byte = peek() else { return nil }
    position += isCRLF ? 2 : 1
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }
}
