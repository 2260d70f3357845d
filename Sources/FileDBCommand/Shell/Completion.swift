import FileDB
import FileDBEssentials
import FileDBExchange

/// The possible words at the cursor on a command line.
struct Completion {
  /// A possible word.
  struct Candidate: Equatable {
    let text: String
    var note = ""
  }

  enum Answer: Equatable {
    case words([Candidate])
    case files
    case folders
  }

  /// What an argument accepts.
  enum Content: Equatable {
    case nothing, table, id, field, fieldList, sortKeys, assignment, idOrAssignment, idOrField, tableOrFile,
      file,
      folder, type
    case command, tableOrID
    case values([String])
  }

  private let tree: HelpTree
  /// The words before the current one, without the program's name.
  private let words: [String]
  private let current: String

  init(_ tree: HelpTree, words: [String], current: String) {
    (self.tree, self.words, self.current) = (tree, words, current)
  }

  /// What an argument accepts, according to the name of its value in the help.
  static func content(of argument: HelpArgument, in command: String) -> Content {
    if !argument.values.isEmpty { return .values(argument.values) }
    switch (command, argument.valueName) {
    case ("add", "fields"): return .assignment
    case ("diff", "a"), ("diff", "b"): return .tableOrFile
    case (_, "table|id[.field]"): return .tableOrID
    case (_, "table") where argument.kind == .option: return .nothing
    case (_, "table"), (_, "tables"), (_, "table[.field]"): return .table
    case (_, "id"), (_, "ids"): return .id
    case (_, "field"), (_, "fields"), (_, "predicate"): return .field
    case (_, "a,b"), (_, "a,b,c"): return .fieldList
    case (_, "key,-key"): return .sortKeys
    case (_, "id|field=value"): return .idOrAssignment
    case (_, "id|field"): return .idOrField
    case (_, "file"), (_, "base"), (_, "ours"), (_, "theirs"): return .file
    case (_, "dir"), (_, "[name=]dir"), (_, "from"), (_, "to"): return .folder
    case (_, "type"): return .type
    case (_, "subcommands"): return .command
    default: return .nothing
    }
  }

  func answer() -> Answer {
    let line = ParsedLine(words, in: tree)
    if let option = line.openOption { return answer(for: option, typed: current, prefix: "", on: line) }
    if current.hasPrefix("-"), !line.isPastOptions {
      if let equals = current.unicodeScalars.firstIndex(of: "="),
        let option = line.command.options.first(where: { $0.names.contains(String(current[..<equals])) })
      {
        let prefix = String(current[...equals])
        return answer(for: option, typed: String(current.dropFirst(prefix.count)), prefix: prefix, on: line)
      }
      return matching(
        line.unusedOptions.flatMap { option in
          option.names.filter { $0.hasPrefix("--") }.map { Candidate(text: $0, note: option.abstract) }
        })
    }
    if line.command.isGroup { return matching(Self.names(of: line.command.commands)) }
    let positionals = line.command.positionals
    let index = min(line.positionals.count, positionals.count - 1)
    guard index >= 0, line.positionals.count < positionals.count || positionals[index].isRepeating else {
      return .words([])
    }
    return answer(for: positionals[index], typed: current, prefix: "", on: line)
  }

  private static func names(of commands: [HelpTree]) -> [Candidate] {
    commands.map { Candidate(text: $0.name, note: $0.abstract) }
  }

  private func matching(_ candidates: [Candidate]) -> Answer {
    .words(candidates.filter { $0.text.hasPrefix(current) })
  }

  /// - Parameters:
  ///   - typed: the part of the word that belongs to the value.
  ///   - prefix: the part before it.
  private func answer(
    for argument: HelpArgument, typed: String, prefix: String, on line: ParsedLine
  ) -> Answer {
    let content = Self.content(of: argument, in: line.command.name)
    let store = StoreCompletion(line)
    func words(_ candidates: [Candidate]) -> Answer {
      .words(
        candidates.filter { $0.text.hasPrefix(typed) }.map {
          Candidate(text: prefix + $0.text, note: $0.note)
        })
    }
    switch content {
    case .nothing: return .words([])
    case .file: return .files
    case .folder: return .folders
    case .values(let values): return words(values.map { Candidate(text: $0) })
    case .type: return words(FieldType.allCases.map { Candidate(text: $0.rawValue) })
    case .command:
      return words(Self.names(of: line.positionals.reduce(tree) { $0.command($1) ?? $0 }.commands))
    case .table: return typed.has("/") ? .files : words(store.tables)
    case .tableOrFile:
      let tables = store.tables.filter { $0.text.hasPrefix(typed) }
      return tables.isEmpty ? .files : words(tables)
    case .id: return words(store.ids)
    case .field: return words(store.fields)
    case .fieldList: return words(store.list(typed, of: store.fields))
    case .sortKeys: return words(store.sortKeys(typed))
    case .assignment: return words(store.assignments(typed))
    case .idOrAssignment:
      return words((line.positionals.count == 1 ? store.ids : []) + store.assignments(typed))
    case .idOrField: return words(store.ids + store.fields)
    case .tableOrID: return words(line.positionals.count == 1 ? store.tables : store.ids)
    }
  }
}

/// The words before the cursor, as the parser would understand them.
struct ParsedLine {
  /// The named command; its group, or the tool itself, until one is named.
  private(set) var command: HelpTree
  private(set) var positionals: [String] = []
  /// The names of the options and flags so far.
  private(set) var used: Set<String> = []
  /// The values of options, by the options' names.
  private(set) var values: [String: String] = [:]
  /// The option that expects a value next.
  private(set) var openOption: HelpArgument?
  /// Whether there was a `--`.
  private(set) var isPastOptions = false

  init(_ words: [String], in tree: HelpTree) {
    command = tree
    for word in words { take(word) }
  }

  private mutating func take(_ word: String) {
    if let option = openOption {
      for name in option.names { values[name] = word }
      openOption = nil
    } else if word == "--" {
      isPastOptions = true
    } else if word.hasPrefix("-"), word != "-", !isPastOptions {
      takeOption(word)
    } else if positionals.isEmpty, let named = command.command(word) {
      command = named
    } else {
      positionals.append(word)
    }
  }

  private mutating func takeOption(_ word: String) {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard let option = command.options.first(where: { $0.names.contains(parts[0]) }) else { return }
    used.formUnion(option.names)
    guard option.kind == .option else { return }
    if parts.count == 2 { values[parts[0]] = parts[1] } else { openOption = option }
  }

  var unusedOptions: [HelpArgument] {
    command.options.filter { $0.isRepeating || used.isDisjoint(with: $0.names) }
  }
}
