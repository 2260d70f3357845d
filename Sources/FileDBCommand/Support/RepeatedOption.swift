import ArgumentParser

/// Finds options that were given twice. ArgumentParser would silently use the last value.
enum RepeatedOption {
  /// Options that may be repeated, or that are checked elsewhere. Their values may be any text.
  private static let additive: Set = [
    "--where", "--arg", "--attach", "--enum", "--unique-with", "--without",
  ]

  /// - Throws: `ValidationError` for an option that takes one value and was given two.
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

  /// A repeated flag changes nothing.
  private static func takesValue(_ option: Substring, of command: any ParsableCommand.Type) -> Bool {
    FileDBTool.helpMessage(for: command).contains("\(option) <")
  }
}
