import ArgumentParser
import FileDB
import FileDBEssentials

/// The manual pages, made from the help: `filedb.1`, and one for each command.
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
    page.options(tree.options)
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
    page.section("SYNOPSIS", lines: Self.usage(of: command.name))
    page.section("DESCRIPTION", command.discussion)
    page.section(
      "ARGUMENTS", items: command.positionals.map { ("<\($0.valueName)>", Self.explained($0)) })
    page.options(command.options)
    page.section("EXAMPLES", lines: CommandExamples.lines[command.name] ?? [])
    page.section("SEE ALSO", "filedb(1)")
    return page.text
  }

  private static func usage(of name: String) -> [String] {
    let commands = FileDBTool.configuration.subcommands
    guard let command = commands.first(where: { $0.configuration.commandName == name }) else { return [] }
    return FileDBTool.usageString(for: command).split(separator: "\n").map {
      $0.trimmed()
    }
  }

  fileprivate static func explained(_ argument: HelpArgument) -> String {
    var text = argument.abstract
    if !argument.values.isEmpty { text += " (values: \(argument.values.joined(separator: ", ")))" }
    if let value = argument.defaultValue { text += " (default: \(value))" }
    return text
  }
}

/// A page in the language of `man`.
private struct ManualPage {
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

  /// Adds lines unchanged.
  mutating func section(_ title: String, lines: [String]) {
    if lines.isEmpty { return }
    text += ".SH \(title)\n.nf\n" + lines.map { Self.escaped($0) + "\n" }.joined() + ".fi\n"
  }

  mutating func section(_ title: String, items: [(term: String, text: String)]) {
    if items.isEmpty { return }
    text += ".SH \(title)\n"
    for item in items { text += ".TP\n.B \(Self.escaped(item.term))\n\(Self.escaped(item.text))\n" }
  }

  mutating func options(_ options: [HelpArgument]) {
    section(
      "OPTIONS",
      items: options.map { option in
        let value = option.kind == .option ? " <\(option.valueName)>" : ""
        return (option.names.joined(separator: ", ") + value, Manual.explained(option))
      })
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

extension Substring {
  /// The text without the spaces at its beginning.
  fileprivate func trimmed() -> String { String(drop { $0 == " " }) }
}
