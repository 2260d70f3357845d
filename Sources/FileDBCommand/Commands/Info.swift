import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Info: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Describe a table: its file, its counter, its fields.",
    discussion: """
      The fields are those of the first 1,000 records, with the number of these that have them. With --all, every record \
      is looked at, which takes longer the larger the table is.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Flag(help: "Look for fields in all records, not only in the first 1,000.")
  var all = false

  private static let sampleLength = 1_000

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    Terminal.print("file     \(try table.url.path)")
    Terminal.print("size     \(try FileInfo.size(of: table))")
    if let behind = try behind(table) { Terminal.print("behind   \(behind)") }
    Terminal.print("records  \(snapshot.count)")
    Terminal.print("counter  \(snapshot.counter)")
    guard !snapshot.isEmpty else { return }
    Terminal.print("")
    let looked = all ? snapshot.count : min(snapshot.count, Self.sampleLength)
    if looked < snapshot.count {
      Terminal.print("In the first \(looked.grouped) records ('--all' looks at every one):")
    }
    for line in fields(of: snapshot.prefix(looked)).lines(width: Terminal.width) {
      Terminal.printStyled(line)
    }
  }

  /// What the file lacks; `nil` if it is up to date.
  private func behind(_ table: RecordTable<Fields>) throws -> String? {
    let count = try table.commitsBehind
    if count == 0 { return nil }
    return "\(count) commit\(count == 1 ? "" : "s"), which 'filedb checkpoint' writes into the file"
  }

  /// Each field, in how many records it is, and of which types.
  private func fields(of records: Slice<TableSnapshot<Fields>>) -> TextTable {
    var counts: [String: [String: Int]] = [:]
    for record in records {
      for field in record.fields.dictionary {
        counts[field.key, default: [:]][FieldType(of: field.value).rawValue, default: 0] += 1
      }
    }
    let rows = counts.sorted { $0.key < $1.key }.map { field, types in
      let described =
        types.count == 1
        ? types.keys.first ?? ""
        : types.sorted { $0.key < $1.key }
          .map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
      return [
        TerminalText.defused(JSONText.fieldName(field)), described, types.values.reduce(0, +).description,
      ]
    }
    return TextTable(
      columns: [
        TextTable.Column(title: "field"), TextTable.Column(title: "type"),
        TextTable.Column(title: "records", isNumeric: true),
      ], rows: rows)
  }
}

extension FileInfo {
  /// The size of a table's file, for people. A table that is new may be in the journal alone, and one that nobody
  /// changed in the attached store alone.
  static func size(of table: RecordTable<Fields>) throws -> String {
    do { return try FileInfo(at: table.url).formattedSize } catch StoreError.Code.fileNotFound {
      return table.isAttachedAlone ? "attached" : "in the journal"
    }
  }
}
