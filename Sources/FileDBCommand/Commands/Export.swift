import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Export: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the records of a table to a file in another format.",
    discussion: """
      An existing file is replaced as a whole; if something goes wrong, it stays as it was. A pipe, a device or an \
      open file such as /dev/stdout is written to. A SQLite database gets one \
      more table. Each record has its id as 'id', so that 'filedb import --ids' finds the record again. If no record \
      matches --where and --search, a file stays as it was, and the exit code is 1. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The file; - is standard output.") var file = "-"
  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var database: DatabaseDestination
  @Option(help: "For csv, what ends a line; by default lf.") var lineEnd: DelimitedFormat.LineEnd?
  @Option(
    help: ArgumentHelp(
      "Also write a Frictionless Table Schema, a JSON file: what the table declares, and the types of its other fields.",
      valueName: "file"))
  var schema: String?
  @OptionGroup var selection: SelectionOptions
  @Flag(name: .customLong("no-id"), help: "Leave out the ids of the records.") var noID = false

  func validate() throws {
    if file == "-", schema == "-" { throw ValidationError("Only one of the files can be standard output.") }
  }

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let write = try writer(for: snapshot.knownSchema)
    let records = try selection.records(of: snapshot)
    let isNothing = selection.isCondition && records.isEmpty
    let isStream = Self.isStream(file)
    // A mistyped condition should not replace the last export by an empty one. The reader of a stream waits for its end.
    if isNothing, !isStream { throw StoreError.noMatch(in: table.name) }
    for file in [file, schema].compactMap(\.self) where !Self.isStream(file) {
      try checkPlace(file, besides: table.store)
    }
    // On a terminal, the records themselves are shown.
    let isSeen = isStream && Terminal.outputIsTerminal
    var progress = Progress()
    defer { progress.finish() }
    try write(records, snapshot.counter) { count in
      if !isSeen { progress.report("\(count.grouped) of \(records.count.counted("record")) written") }
    }
    progress.finish()
    if file != "-" { Terminal.note("\(records.count.counted("record")) exported to '\(file)'") }
    if let schema { try writeSchema(of: snapshot, to: schema) }
    if isNothing { throw StoreError.noMatch(in: table.name) }
  }

  private static func isStream(_ file: String) -> Bool {
    file == "-" || FileInfo.isStream(URL(fileURLWithPath: file))
  }

  private func writeSchema(of table: TableSnapshot<Fields>, to file: String) throws {
    let text = FrictionlessSchema.text(of: TableSchema(describing: table))
    if file == "-" { return Terminal.print(text) }
    try FileInfo.writeFile(at: URL(fileURLWithPath: file)) { append in try append(Array((text + "\n").utf8))
    }
  }

  /// Writes the records of a table, and this counter.
  private typealias Writer = (
    AnyRandomAccessCollection<StoredRecord<Fields>>, _ counter: Int64, _ progress: (_ records: Int) -> Void
  ) throws -> Void

  private func writer(for schema: TableSchema?) throws -> Writer {
    switch try exchange.destination(file) {
    case .stream(let format):
      try database.checkIsAbsent()
      var export = TableExport(
        format: try laidOut(format), chosen: try selection.chosenFields(), schema: schema)
      export.ids = noID ? .omitted : .written
      guard file == "-" else {
        let url = URL(fileURLWithPath: file)
        return { records, _, progress in try export.write(records, to: url, progress: progress) }
      }
      return { records, _, progress in
        try export.write(records, progress: progress) { Terminal.print(bytes: $0) }
      }
    case .database(let url):
      try checkIsNotForText()
      if noID { throw ValidationError("An export to a SQLite database always has the ids.") }
      let export = DatabaseExport(
        file: url, table: database.table ?? table.name, chosen: try selection.chosenFields(), schema: schema,
        replacesTable: database.replace)
      let extra = try FileDBTool.needExtra()
      return { records, counter, progress in
        try extra.run(export, of: records, counter: counter, progress: progress)
      }
    }
  }

  private func laidOut(_ format: ExchangeFormat) throws -> ExchangeFormat {
    if case .delimited(var delimited, let hasHeader) = format {
      delimited.lineEnd = lineEnd ?? .lf
      return .delimited(delimited, hasHeader: hasHeader)
    }
    try checkIsNotForText()
    if case .binaryPlist = format, file == "-", Terminal.outputIsTerminal {
      throw ValidationError("A binary property list is not for a terminal; name a file.")
    }
    return format
  }

  private func checkIsNotForText() throws {
    guard lineEnd == nil else { throw ValidationError("--line-end is for csv and tsv.") }
  }

  /// The file's folder must exist. In a store's folder, a property list is a table, whatever its name, and an export
  /// must not replace a table, whatever path leads there.
  private func checkPlace(_ file: String, besides store: RecordStore) throws {
    let target = FileInfo.target(of: URL(fileURLWithPath: file))
    let folder = target.deletingLastPathComponent()
    guard FileInfo.isFolder(folder) else {
      throw StoreError(.fileNotFound, "there is no such folder", file: folder.path)
    }
    let stores = [store.url, store.attachedURL].compactMap(\.self).filter(\.isFileURL)
    guard stores.contains(where: { FileInfo.isSame(folder, $0) }) || FileInfo.isStore(folder) else { return }
    let names = try RecordStore(at: folder).tableNames
    let isTable = target.pathExtension == "plist" || names.contains(target.lastPathComponent)
    if isTable || (exchange.format == .plist && file == self.file) {
      throw ValidationError("'\(file)' would be taken for a table of a store; export it into another folder.")
    }
  }
}
