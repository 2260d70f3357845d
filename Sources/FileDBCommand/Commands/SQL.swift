import ArgumentParser
import FileDB

struct SQL: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "sql", abstract: "Run a SQL SELECT on the tables of the store.",
    discussion: """
      The query is SQLite's SQL, with joins, groups and functions. Each table has the columns id, position (the \
      record's index, from 0) and one for each field; a field called id or position is 'fields.id' or \
      'fields.position'. Dates are text, true and false are 1 and 0, arrays and dictionaries are JSON. The query sees \
      all tables as they are at one moment. Nothing is written: the tables that the query names are copied into \
      memory.

      SELECT title, count(*) FROM notes JOIN folders ON folder = folders.id GROUP BY folder ORDER BY notes.position
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: ArgumentHelp("The query.", valueName: "select")) var query: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let store = try existingStore()
    let extra = try FileDBTool.needExtra()
    let answer = try extra.answer(query, about: store.snapshot())
    try checkNames(of: answer.columns)
    try SummaryPrinter(output: output, titles: answer.columns, keyCount: 0).print(answer.rows)
  }

  /// In these formats, a program would see only one of two columns with the same name.
  private func checkNames(of columns: [String]) throws {
    guard [.json, .ndjson, .plist].contains(output.format) else { return }
    var seen: Set<String> = []
    guard let name = columns.first(where: { !seen.insert($0).inserted }) else { return }
    throw ValidationError(
      "Two columns are called '\(name)'; give one of them another name: SELECT … AS name.")
  }
}
