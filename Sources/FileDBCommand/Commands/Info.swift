import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange
import FileDBPlist

struct Info: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Describe a table: its file, its counter, its fields.",
    discussion: """
      Prints for each field its types, how many records have it, as a number and as a bar, and its least and greatest \
      values. The fields are those of the first 1,000 records. With --all, filedb reads every record, which takes \
      longer in a larger table.

      In json and plist, the output is one object. In ndjson, csv, tsv and markdown, there is a row for each field.

      --waiting lists the commits that wait in the journal, of one table or of all. The tables' files do not have them \
      yet; a checkpoint writes them there. In all formats but table, each change of a commit is a row.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference?
  @Flag(help: "Look for fields in all records, not only in the first 1,000.")
  var all = false
  @Flag(help: "List the commits that wait in the journal.") var waiting = false
  @OptionGroup var output: FormatOption

  private static let sampleLength = 1_000

  func validate() throws {
    if table == nil, !waiting { throw ValidationError("Name a table, or give --waiting.") }
    if all, waiting { throw ValidationError("Give only one of --all and --waiting.") }
  }

  func run() throws {
    let table = try table.map(existingTable)
    if waiting {
      let store = try table?.store ?? existingStore()
      guard store.url.isFileURL else { throw StoreError.withoutFiles("filedb info --waiting") }
      let commits = try store.pendingCommits()
      try WaitingCommits(commits, of: table?.name).print(in: output)
    } else if let table {
      try describe(table)
    }
  }

  private func describe(_ table: RecordTable<Fields>) throws {
    let snapshot = try table.snapshot()
    let looked = all ? snapshot.count : min(snapshot.count, Self.sampleLength)
    let picture = TablePicture(of: snapshot.prefix(looked))
    switch output.format {
    case .table: try printText(table, snapshot, picture, looked)
    case .json, .plist: try printObject(table, snapshot, picture, looked)
    case .ndjson, .csv, .tsv, .markdown:
      try SummaryPrinter(output: output, titles: FieldPicture.titles, keyCount: 0).print(
        picture.fields.map(\.row))
    }
  }

  private func printText(
    _ table: RecordTable<Fields>, _ snapshot: TableSnapshot<Fields>, _ picture: TablePicture, _ looked: Int
  ) throws {
    if table.store.url.isFileURL { Terminal.print("file     \(try place(of: table))") }
    Terminal.print("size     \(try FileInfo.size(of: table))")
    if let behind = try behind(table) { Terminal.print("behind   \(behind)") }
    Terminal.print("records  \(snapshot.count)")
    Terminal.print("counter  \(snapshot.counter)")
    guard !snapshot.isEmpty else { return }
    Terminal.print("")
    if looked < snapshot.count {
      Terminal.print("In the first \(looked.counted("record")) ('--all' looks at every one):")
    }
    for line in picture.table.lines(width: Terminal.width, heading: output.heading) {
      Terminal.printStyled(line)
    }
  }

  private func place(of table: RecordTable<Fields>) throws -> String {
    let path = try table.url.path
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
    return "\(path), a link to \(target)"
  }

  private func printObject(
    _ table: RecordTable<Fields>, _ snapshot: TableSnapshot<Fields>, _ picture: TablePicture, _ looked: Int
  ) throws {
    // A new table may exist only in the journal.
    let size = try? FileInfo(of: table).size
    let fields = picture.fields.map { PlistValue.dict($0.dictionary) }
    let row: [PlistValue?] = [
      .string(snapshot.table), table.store.url.isFileURL ? .string(try table.url.path) : nil,
      size.map(PlistValue.integer),
      .integer(Int64(try table.commitsBehind)), .integer(Int64(snapshot.count)), .integer(snapshot.counter),
      .integer(Int64(looked)), .array(fields),
    ]
    let titles = ["table", "file", "bytes", "behind", "records", "counter", "examined", "fields"]
    try SummaryPrinter(output: output, titles: titles, keyCount: 0).print(alone: row)
  }

  /// What is missing in the file; `nil` if it is up to date.
  private func behind(_ table: RecordTable<Fields>) throws -> String? {
    let count = try table.commitsBehind
    if count == 0 { return nil }
    return "\(count.counted("commit")), which 'filedb checkpoint' writes into the file"
  }
}

extension FileInfo {
  /// Describes a table's file. If that is a link, it is the file that the link leads to.
  init(of table: RecordTable<Fields>) throws { try self.init(at: table.url.resolvingSymlinksInPath()) }

  /// The size of a table's file, for people. A new table may exist only in the journal, and an unchanged one only in
  /// the attached store.
  static func size(of table: RecordTable<Fields>) throws -> String {
    guard table.store.url.isFileURL else { return "in the database" }
    do { return try FileInfo(of: table).formattedSize } catch StoreError.Code.fileNotFound {
      return table.isAttachedAlone ? "attached" : "in the journal"
    }
  }
}
