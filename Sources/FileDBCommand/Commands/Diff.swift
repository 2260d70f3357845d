import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange
import FileDBPlist

struct Diff: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Print the differences between two tables, or two stores, record by record.",
    discussion: """
      A and B are two stores or two tables. Name a store by its folder. Name a table by its name in the store, or by \
      its file, which may be a pipe and have any name; - is standard input. So 'git show HEAD:todo.plist | filedb diff \
      - todo' compares with a commit. Records are matched by their ids, and as few as possible count as moved. The \
      exit code is 0 if nothing differs, and 1 if something does.

      \(ChangeRows.explanation) The kind is create or drop if only one store has the table.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The old table or store.") var a: String
  @Argument(help: "The new table or store.") var b: String
  @OptionGroup var output: FormatOption

  func run() throws {
    let changes = try changes().filter { !$0.steps.isEmpty || $0.before.exists != $0.after.exists }
    if var stream = RowStream(output, columns: ChangeRows.columns) {
      stream.begin()
      for row in changes.lazy.flatMap(ChangeRows.rows) { try stream.print(row) }
      stream.end()
    } else {
      for change in changes { TextDifference(change).print() }
    }
    if !changes.isEmpty { throw ExitCode(1) }
  }

  private func changes() throws -> [TableChange<Fields>] {
    switch (try side(a), try side(b)) {
    case (.table(let before), .table(let after)): return [TableChange(from: before, to: after)]
    case (.store(let before), .store(let after)):
      let names = try Set((before.tableNames + after.tableNames).map(TableName.records))
      return try names.sorted { compareUTF8($0.text, $1.text) < 0 }.map { name in
        TableChange(from: try before.table(name).snapshot(), to: try after.table(name).snapshot())
      }
    default: throw ValidationError("Compare two tables or two stores, not one with the other.")
    }
  }

  private enum Side {
    case store(RecordStore)
    case table(TableSnapshot<Fields>)
  }

  private func side(_ argument: String) throws -> Side {
    if argument == "-" { return .table(try TableSnapshot(argument: argument)) }
    if StoreReference.isAddress(argument) { return .store(try StoreReference(argument).open(for: .once)) }
    let reference = TableReference(argument: argument)
    let url = URL(fileURLWithPath: argument)
    if !reference.isPath, try isTable(argument) {
      return .table(try existingTable(reference).snapshot())
    }
    if FileInfo.isFolder(url) { return .store(try StoreReference.folder(url).open(for: .once)) }
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw StoreError(.fileNotFound, "there is no such table, file or store", file: argument)
    }
    // If the table is in a store, the journal may have commits that are missing in its file.
    return reference.isPath && isInStore(url)
      ? .table(try existingTable(reference).snapshot()) : .table(try TableSnapshot(argument: argument))
  }

  private func isTable(_ name: String) throws -> Bool {
    let store = try store()
    return try store.isAttached(name)
      || store.tableNames.contains { TableName.records($0) == .records(name) }
  }

  private func isInStore(_ file: URL) -> Bool {
    !file.lastPathComponent.hasPrefix(".") && FileInfo.isStore(file.deletingLastPathComponent())
  }
}
