import ArgumentParser

/// An option that is given twice, of which ArgumentParser would silently take the last.
enum RepeatedOption {
  /// Those that add up, or are looked at elsewhere. Their values may be any text.
  private static let additive: Set = [
    "--where", "--arg", "--attach", "--enum", "--unique-with", "--without",
  ]

  /// - Throws: `ValidationError` for an option that takes one value, and is given two.
  static func check(_ words: [String], of command: any ParsableCommand.Type) throws {
    var seen: [Substring] = []
    var words = words.prefix { $0 != "--" }[...]
    while let word = words.popFirst() {
      guard word.hasPrefix("--") else { continue }
      let option = word.prefix { $0 != "=" }
      if additive.contains(String(option)) {
        if option == word { words = words.dropFirst() }
      } else if seen.contains(option) {
        if takesValue(option, of: command) { throw ValidationError("\(option) is given twice.") }
      } else {
        seen.append(option)
      }
    }
  }

  /// A flag says the same twice.
  private static func takesValue(_ option: Substring, of command: any ParsableCommand.Type) -> Bool {
    FileDBTool.helpMessage(for: command).contains("\(option) <")
  }
}
