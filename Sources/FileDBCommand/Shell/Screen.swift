import ArgumentParser

/// What `filedb` prints without arguments: one screen with the commands of everyday, and the names of the others.
enum Screen {
  /// How the commands of everyday are written, and what they do.
  static let everyday: [(words: String, abstract: String)] = [
    ("import foods.csv food", "read a CSV, JSON or SQLite file"),
    ("tables", "list the tables"),
    ("show food --where 'kcal > 100'", "print records (--search, --sort, --group)"),
    ("get food 3", "print the record with the id 3"),
    ("count food --group group", "count records (--where, --sum, --average)"),
    ("add food name=Rice kcal:integer=130", "add a record (--top, --before ID)"),
    ("set food 3 kcal:integer=131", "change a record, or many (--where)"),
    ("delete food 4", "delete records (--where)"),
    ("move food 7 --top", "move a record (--bottom, --before ID)"),
    ("sort food group,-kcal", "sort the table, and save the order"),
    ("undo", "undo the last command (--list)"),
    ("export food food.csv", "write a CSV, JSON, plist or SQLite file"),
  ]

  static var text: String {
    let width = everyday.map(\.words.count).max() ?? 0
    let lines = everyday.map { "  \($0.words.padded(to: width))  \($0.abstract)" }
    return
      (["Usage: filedb [--store DIR] COMMAND ...  (DIR: $FILEDB_STORE, or this folder)", ""]
      + lines + [""] + others + [
        "", "'filedb help COMMAND' has all options and examples. --dry-run tries a write.",
      ])
      .joined(separator: "\n")
  }

  /// The other commands, a line for each group.
  private static var others: [String] {
    let groups = FileDBTool.configuration.groupedSubcommands
    let width = groups.map(\.name.count).max() ?? 0
    return groups.compactMap { group in
      let names = group.subcommands.compactMap(name)
      return names.isEmpty ? nil : "  \(group.name.padded(to: width))  \(names.joined(separator: "  "))"
    }
  }

  /// A command's name, and the names of its subcommands; `nil` for a command of everyday.
  private static func name(_ command: any ParsableCommand.Type) -> String? {
    guard let name = command.configuration.commandName, !everyday.contains(where: { $0.words.first(name) })
    else {
      return nil
    }
    let verbs = command.configuration.subcommands.compactMap { $0.configuration.commandName }
    return verbs.isEmpty ? name : "\(name) \(verbs.joined(separator: "|"))"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: width - count) }

  /// Whether this is the first word.
  fileprivate func first(_ word: String) -> Bool { split(separator: " ").first.map(String.init) == word }
}
