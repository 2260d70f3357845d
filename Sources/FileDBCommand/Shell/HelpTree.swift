import ArgumentParser
import FileDB
import FileDBExchange
import FileDBPlist

/// The help as a tree. Completions and manual pages are made from it.
struct HelpTree {
  let name: String
  let abstract: String
  let discussion: String
  /// The arguments that the help shows.
  let arguments: [HelpArgument]
  let commands: [HelpTree]

  /// The tool with all its commands.
  static func all() throws -> HelpTree {
    guard let tree = FieldType.json.value(of: FileDBTool._dumpHelp())?.dict?["command"]?.dict else {
      throw StoreError(.inputOutput, "the help cannot be read")
    }
    return HelpTree(tree)
  }

  /// The tool with the command of these words alone, if they name one. ArgumentParser describes all commands so slowly
  /// that a person who presses the Tab key would notice.
  static func forCommand(of words: [String]) throws -> HelpTree {
    try FileDBTool.withCommand(of: words) { try all() }
  }

  private init(_ command: PlistDictionary) {
    name = command["commandName"]?.string ?? ""
    abstract = command["abstract"]?.string ?? ""
    discussion = command["discussion"]?.string ?? ""
    arguments = Self.shown(command["arguments"]).map(HelpArgument.init)
    commands = Self.shown(command["subcommands"]).map(HelpTree.init)
  }

  private static func shown(_ elements: PlistValue?) -> [PlistDictionary] {
    (elements?.array ?? []).compactMap(\.dict).filter { $0["shouldDisplay"] == .bool(true) }
  }

  func command(_ name: String) -> HelpTree? { commands.first { $0.name == name } }

  /// Whether it has only subcommands.
  var isGroup: Bool { !commands.isEmpty }

  var positionals: [HelpArgument] { arguments.filter { $0.kind == .positional } }
  var options: [HelpArgument] { arguments.filter { $0.kind != .positional } }
}

/// An argument of a command.
struct HelpArgument {
  enum Kind: String {
    case positional, option, flag
  }

  let kind: Kind
  /// The names as they are typed: `--store`.
  let names: [String]
  /// The name of the value in the usage.
  let valueName: String
  let abstract: String
  let defaultValue: String?
  /// All possible values; empty if there may be others.
  let values: [String]
  let isOptional: Bool
  let isRepeating: Bool

  init(_ argument: PlistDictionary) {
    kind = argument["kind"]?.string.flatMap(Kind.init) ?? .flag
    names = (argument["names"]?.array ?? []).compactMap(\.dict).map { name in
      (name["kind"] == "short" ? "-" : "--") + (name["name"]?.string ?? "")
    }
    valueName = argument["valueName"]?.string ?? ""
    abstract = argument["abstract"]?.string ?? ""
    defaultValue = argument["defaultValue"]?.string
    let values = (argument["allValues"]?.array ?? []).compactMap(\.string)
    let isChoice =
      valueName.contains("|") && valueName.allSatisfy { $0.isLowercase || $0 == "|" || $0 == "-" }
    self.values =
      values.isEmpty && isChoice && kind == .option
      ? valueName.split(separator: "|").map(String.init) : values
    isOptional = argument["isOptional"] == .bool(true)
    isRepeating = argument["isRepeating"] == .bool(true)
  }
}
