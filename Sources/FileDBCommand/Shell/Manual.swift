import ArgumentParser
import FileDB
import FileDBEssentials

/// The manual pages, made from the help: `filedb.1`, and one for each command or group of commands.
struct Manual {
  private let tree: HelpTree

  init(_ tree: HelpTree) { self.tree = tree }

  /// - Throws: ``StoreError/Code/inputOutput``.
  func write(to folder: URL) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (name, text) in pages { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
    } catch {
      throw StoreError(.inputOutput, "the manual cannot be written: \(error.systemReason)", file: folder.path)
    }
  }

  private var pages: [(name: String, text: String)] {
    [("filedb.1", main)] + commands.map { ("filedb-\($0.name).1", page($0)) }
  }

  /// All commands except the one that prints help.
  private var commands: [HelpTree] { tree.commands.filter { $0.name != "help" } }

  private var main: String {
    var page = ManualPage("filedb", tree.abstract)
    page.section("SYNOPSIS", lines: ["filedb [--store DIR] COMMAND ..."])
    page.section("DESCRIPTION", tree.discussion)
    page.section("OPTIONS", items: Self.items(of: tree.options))
    page.section("COMMANDS", items: commands.map { ("filedb-\($0.name)(1)", $0.abstract) })
    page.section(
      "ENVIRONMENT",
      items: [
        ("FILEDB_STORE", "The store where --store is not given."),
        ("NO_COLOR", "Set to anything, no colors are used on a terminal."),
      ])
    return page.text
  }

  private func page(_ command: HelpTree) -> String {
    var page = ManualPage("filedb-\(command.name)", command.abstract)
    let verbs = command.commands.map { (name: "\(command.name) \($0.name)", help: $0) }
    let names = verbs.isEmpty ? [command.name] : verbs.map(\.name)
    page.section("SYNOPSIS", lines: names.flatMap(CommandNames.usage))
    page.section("DESCRIPTION", command.discussion)
    for (name, help) in verbs {
      page.section(name.uppercased(), help.abstract + "\n\n" + help.discussion)
      page.add(items: Self.items(of: help.positionals) + Self.items(of: help.options))
      page.add(lines: CommandExamples.lines[name] ?? [])
    }
    page.section("ARGUMENTS", items: Self.items(of: command.positionals))
    page.section("OPTIONS", items: Self.items(of: command.options))
    page.section("EXAMPLES", lines: CommandExamples.lines[command.name] ?? [])
    page.section("SEE ALSO", "filedb(1)")
    return page.text
  }

  private static func items(of arguments: [HelpArgument]) -> [ManualPage.Item] {
    arguments.map { argument in
      let value = argument.kind == .flag ? [] : ["<\(argument.valueName)>"]
      let names = argument.names.isEmpty ? [] : [argument.names.joined(separator: ", ")]
      return ((names + value).joined(separator: " "), explained(argument))
    }
  }

  private static func explained(_ argument: HelpArgument) -> String {
    var text = argument.abstract
    if !argument.values.isEmpty { text += " (values: \(argument.values.joined(separator: ", ")))" }
    if let value = argument.defaultValue { text += " (default: \(value))" }
    return text
  }
}

/// A page in the language of `man`.
private struct ManualPage {
  typealias Item = (term: String, text: String)

  private(set) var text: String

  init(_ name: String, _ abstract: String) {
    text = """
      .TH \(name.uppercased().replacing("-", with: #"\-"#)) 1
      .nh
      .ad l
      .SH NAME
      \(Self.escaped(name)) \\- \(Self.escaped(abstract))

      """
  }

  /// Adds paragraphs, if there are any.
  mutating func section(_ title: String, _ content: String) {
    let paragraphs = content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard paragraphs.contains(where: { !$0.isEmpty }) else { return }
    text += ".SH \(title)\n"
    for paragraph in paragraphs { text += paragraph.isEmpty ? ".PP\n" : Self.escaped(paragraph) + "\n" }
  }

  mutating func section(_ title: String, lines: [String]) {
    if !lines.isEmpty { text += ".SH \(title)\n" }
    add(lines: lines)
  }

  mutating func section(_ title: String, items: [Item]) {
    if !items.isEmpty { text += ".SH \(title)\n" }
    add(items: items)
  }

  /// Adds lines unchanged.
  mutating func add(lines: [String]) {
    if lines.isEmpty { return }
    text += ".PP\n.nf\n" + lines.map { Self.escaped($0) + "\n" }.joined() + ".fi\n"
  }

  mutating func add(items: [Item]) {
    for item in items { text += ".TP\n.B \(Self.escaped(item.term))\n\(Self.escaped(item.text))\n" }
  }

  /// Text in which nothing is a request or an escape sequence.
  private static func escaped(_ text: String) -> String {
    var escaped = text.replacing(#"\"#, with: #"\e"#).replacing("-", with: #"\-"#)
      .replacing("'", with: #"\(aq"#).replacing("^", with: #"\(ha"#).replacing("~", with: #"\(ti"#)
      .replacing("`", with: #"\(ga"#)
    if let first = escaped.first, first == "." || first == " " { escaped = #"\&"# + escaped }
    return escaped.isEmpty ? #"\&"# : escaped
  }
}
