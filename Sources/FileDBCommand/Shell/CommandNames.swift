import ArgumentParser
import FileDB

/// The full names of the commands, such as `table rename`, and what to say about words that are none.
enum CommandNames {
  private struct Named {
    let name: String
    let type: any ParsableCommand.Type
  }

  /// All commands, and the groups.
  private static var all: [Named] {
    FileDBTool.configuration.subcommands.flatMap { command in
      let name = name(of: command)
      let verbs = command.configuration.subcommands.map {
        Named(name: "\(name) \(self.name(of: $0))", type: $0)
      }
      return [Named(name: name, type: command)] + verbs
    }
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? ""
  }

  static func isGroup(_ command: any ParsableCommand.Type) -> Bool {
    !command.configuration.subcommands.isEmpty
  }

  /// The command with whose name the words begin, after its group if it is in one; `nil` if they begin with none.
  static func path(of words: ArraySlice<String>) -> [any ParsableCommand.Type]? {
    func named(_ word: String?, in group: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
      group.configuration.subcommands.first { name(of: $0) == word }
    }
    guard let word = words.first, let command = named(word, in: FileDBTool.self) else { return nil }
    guard isGroup(command) else { return [command] }
    return named(words.dropFirst().first, in: command).map { [command, $0] }
  }

  /// The full name of a command, such as `table rename`; for the tool itself, nothing.
  static func fullName(of command: any ParsableCommand.Type) -> String {
    all.first { $0.type == command }?.name ?? ""
  }

  /// The lines of a command's usage.
  static func usage(of name: String) -> [String] {
    all.filter { $0.name == name }.flatMap { command in
      FileDBTool.usageString(for: command.type).split(separator: "\n").map { String($0.drop { $0 == " " }) }
    }
  }

  /// - Throws: `ValidationError` if no command has the name with which the words begin. It names the command that was
  ///   probably meant.
  static func check(_ words: ArraySlice<String>) throws {
    guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return }
    let names = all.map(\.name)
    guard names.contains(word) else { throw unknown(word, among: names) }
    let verbs = names.filter { $0.hasPrefix(word + " ") }
    guard let verb = words.dropFirst().first, !verbs.isEmpty, !verb.hasPrefix("-") else { return }
    let full = "\(word) \(verb)"
    guard verbs.contains(full) || verb == "help" else { throw unknown(full, among: verbs) }
  }

  /// The names that these commands have in shells and in other programs for tables.
  private static let foreign: [String: [String]] = [
    "ls": ["tables", "show"], "list": ["tables", "show"], "rows": ["show"], "cat": ["show"], "head": ["show"],
    "query": ["sql", "show"], "select": ["sql", "show"], "find": ["show"],
    "rm": ["delete", "drop"], "remove": ["delete", "drop"], "del": ["delete"],
    "mv": ["move", "table rename"],
    "cp": ["duplicate", "copy"], "insert": ["add", "import"], "new": ["add", "create"], "append": ["add"],
    "update": ["set"], "upsert": ["import"], "put": ["set"], "load": ["import"], "dump": ["export"],
    "save": ["export"], "describe": ["info", "schema"], "validate": ["check"], "restore": ["undo"],
  ]

  private static func unknown(_ name: String, among names: [String]) -> ValidationError {
    let known = foreign[name]?.filter(names.contains) ?? []
    let meant = (known.isEmpty ? meant(by: name, among: names) : known).map { "'\($0)'" }
    let help = meant.isEmpty ? option(named: name) : " Did you mean \(meant.joined(separator: " or "))?"
    return ValidationError("There is no command '\(name)'.\(help)")
  }

  /// The commands whose last word is this name, or else those that consist of the same words, or else the most similar
  /// one.
  private static func meant(by name: String, among names: [String]) -> [String] {
    func parts(_ name: String) -> Set<Substring> { Set(name.split { " -".contains($0) }) }
    let verbs = names.filter { $0.hasSuffix(" " + name) }
    if !verbs.isEmpty { return verbs }
    let same = names.filter { parts($0) == parts(name) }
    if !same.isEmpty { return same }
    guard let nearest = NearestName(to: name, among: names + names.compactMap(verb)).name else { return [] }
    return names.contains(nearest) ? [nearest] : names.filter { $0.hasSuffix(" " + nearest) }
  }

  private static func verb(of name: String) -> String? {
    name.firstIndex(of: " ").map { String(name[name.index(after: $0)...]) }
  }

  /// Says which commands have an option of this name.
  private static func option(named name: String) -> String {
    let commands = ((try? HelpTree.all())?.commands ?? []).filter { command in
      command.options.contains { $0.names.contains("--" + name) }
    }
    guard let first = commands.first, commands.count < 4 else {
      return " 'filedb' alone lists the commands."
    }
    return " But 'filedb \(first.name)' has an option --\(name)."
  }
}
