import FileDB
import FileDBExchange

/// A script of commands, one a line, split into words as a shell splits them.
///
/// Words are parted by spaces and tabs. Single quotes keep everything between them; double quotes too, but for `\"` and
/// `\\`; elsewhere a backslash keeps the next character, and at the end of a line it joins the next one. A `#` at the
/// start of a word begins a comment.
struct Script {
  struct Command: Equatable {
    var words: [String]
    /// The line on which it begins, from 1.
    var line: Int
  }

  let name: String
  let commands: [Command]

  /// - Throws: ``StoreError`` with the line of a quote that is never closed.
  init(_ text: String, name: String) throws {
    self.name = name
    var splitter = WordSplitter(text)
    var commands: [Command] = []
    while let command = try splitter.next(name: name) { commands.append(command) }
    self.commands = commands
  }
}

private struct WordSplitter {
  private var rest: Substring
  private var line = 1

  init(_ text: String) { rest = text.replacing("\r\n", with: "\n")[...] }

  /// The next line that has words; `nil` at the end.
  mutating func next(name: String) throws -> Script.Command? {
    var words: [String] = []
    var start = line
    while let character = rest.first {
      switch character {
      case "\n":
        take()
        if !words.isEmpty { return Script.Command(words: words, line: start) }
        start = line
      case " ", "\t": take()
      case "#": while let next = rest.first, next != "\n" { take() }
      case "\\" where rest.dropFirst().first == "\n": take(2)
      default: words.append(try word(name: name))
      }
    }
    return words.isEmpty ? nil : Script.Command(words: words, line: start)
  }

  private mutating func word(name: String) throws -> String {
    var word = ""
    while let character = rest.first, ![" ", "\t", "\n"].contains(character) {
      let start = line
      take()
      switch character {
      case "\\":
        guard let next = take() else { break }
        if next != "\n" { word.append(next) }
      case "'", "\"":
        guard let quoted = quoted(until: character) else {
          throw StoreError(
            StoreError.invalidText, "a quote is opened here and never closed", file: name, line: start)
        }
        word += quoted
      default: word.append(character)
      }
    }
    return word
  }

  /// - Returns: `nil` where the quote is never closed.
  private mutating func quoted(until quote: Character) -> String? {
    var text = ""
    while let character = take() {
      if character == quote { return text }
      if quote == "\"", character == "\\", let next = rest.first, next == "\"" || next == "\\" {
        text.append(next)
        take()
      } else {
        text.append(character)
      }
    }
    return nil
  }

  @discardableResult
  private mutating func take() -> Character? {
    guard let character = rest.popFirst() else { return nil }
    if character == "\n" { line += 1 }
    return character
  }

  private mutating func take(_ count: Int) { for _ in 0..<count { take() } }
}
