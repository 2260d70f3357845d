import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Import: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import the rows of a file into a table, and create the table if it is missing.",
    discussion: """
      The file is delimited text, JSON, NDJSON, a property list or a SQLite database. --format gives the format, or \
      else the file's extension does, or else the first characters: [ means JSON, { NDJSON, <?xml or <plist a property \
      list, and anything else is csv. JSON is an array of objects, or objects one after another, as 'jq' prints them. \
      filedb also reads files that are compressed with gzip.

      If the first line has a ';', a tab or a '|' but no ',', filedb takes that as the separator and prints a message; \
      --separator chooses another one. So does a first line sep=; which Excel writes. In delimited text the first \
      row names the fields, unless --columns does; with --header --columns a,b,c, the names a, b and c replace those in \
      the first row. A separator at the end of each line begins no column. From a \
      database, filedb imports the table with the same name, unless you give --table or --query.

      filedb imports all rows, or, if one is wrong, none. With --on-error skip it reports wrong rows and leaves them \
      out; if no row is left, the exit code is 65.

      Every row becomes a new record, even if you import the same file again. With --key, a row changes the record that \
      has the same key instead. The row's fields replace those of the record; the \
      record keeps its other fields. Ids that an export wrote are then ignored. If no record has the key, the row \
      becomes a new record. With --empty clear, an empty field, or null in JSON, removes the field from the record. \
      With --delete-missing, records that no row matches are deleted, so that the table has the same records as the \
      file.

      A new table shows its columns in the order of the file.

      In delimited text, a column that is new to the table becomes integer, float, bool or date if this loses nothing: \
      exported again, each of its values would be written as it is in the file. So 007 and 1.50 stay text, and \
      2026-03-04 becomes a date. If a column's values would fit, but are written in another form, a message names the \
      option that reads that form. --no-detect takes such columns as text.

      Delimited text and JSON do not keep every type. If --types does not name a field, filedb reads it as the type \
      that the field has in the table. A value that does not fit makes its row wrong. A message names each field that \
      filedb reads differently because of this.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The file; - is standard input.") var file: String
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var exchange: ExchangeOptions
  @OptionGroup var input: DelimitedInput
  @OptionGroup var database: DatabaseSource
  @Option(
    help: ArgumentHelp(
      "The names of the columns, if the file has no header, or, with --header, in place of its names.",
      valueName: "a,b,c"))
  var columns: String?
  @Option(
    help: ArgumentHelp(
      "Types of fields: \(FieldType.names). They take precedence over the table's types.",
      valueName: "a=integer,b=float"))
  var types: String?
  @Flag(
    inversion: .prefixedNo,
    help: "For csv, whether to find the types of columns that are new to the table; otherwise they are text.")
  var detect: Bool?
  @Option(
    help:
      "What an empty field in csv means. missing: the record lacks the field, unless the empty field is in quotes. text: an empty string. clear: the field is removed from a record that --key or --ids finds; null in JSON does the same."
  )
  var empty: DelimitedImport.EmptyText?
  @Option(
    help: ArgumentHelp("Change the records that have the same values in these fields.", valueName: "a,b"))
  var key: String?
  @Flag(
    help:
      "Take the field id as the record's id, as exports write it, and fields.id as a field called id. Otherwise id is a field like any other."
  )
  var ids = false
  @Flag(help: "Delete the records that no row matches; needs --key or --ids.") var deleteMissing = false
  @Option(
    help: ArgumentHelp(
      "Declare the fields of a Frictionless Table Schema, a JSON file, in place of the table's schema.",
      valueName: "file"))
  var schema: String?
  @Option(help: "What to do about a wrong row.") var onError = TableImport.ErrorPolicy.stop
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func validate() throws {
    if ids, key != nil { throw ValidationError("Give only one of --key and --ids.") }
    if deleteMissing, !ids, key == nil { throw ValidationError("--delete-missing needs --key or --ids.") }
    if deleteMissing, onError == .skip {
      throw ValidationError(
        "--delete-missing does not work with --on-error skip: it would delete the records of wrong rows.")
    }
    if file == "-", schema == "-" { throw ValidationError("Only one of the files can be standard input.") }
    if exchange.header == false, columns == nil {
      throw ValidationError("Without a header, name the columns: --columns a,b,c.")
    }
  }

  func run() throws {
    let intake = try intake()
    var progress = Progress()
    defer { progress.finish() }
    var former = 0
    let report: ImportReport
    do {
      report = try options.write(store(for: table), named: stepName) { tx in
        former = try tx[TableName<Fields>(table.name)].snapshot().count
        return try intake.run(&tx) { count in progress.report("\(count.counted("row")) read") }
      }
    } catch let error as StoreError {
      throw ImportAdvice.added(to: error)
    }
    progress.finish()
    try say(report, intake.nearMisses, former: former)
  }

  private func stepName(_ report: ImportReport) -> String {
    "import of \((report.added + report.changed + report.deleted).counted("record")) into \(table.name)"
  }

  /// The whole import, except its transaction.
  private struct Intake {
    /// Of the columns that may stay text.
    var nearMisses: [String: ColumnDetection.NearMiss] = [:]
    let run: (inout StoreTransaction, (_ rows: Int) -> Void) throws -> ImportReport
  }

  private func intake() throws -> Intake {
    switch try exchange.source(file) {
    case .stream(let format)?: return try intake(importer(format), source())
    case .database(let file)?: return try intake(importer(ofDatabase: file))
    case nil:
      let source = try source()
      return try intake(importer(exchange.format(of: source)), source)
    }
  }

  private func intake(_ importer: TableImport, _ source: ImportSource) throws -> Intake {
    var importer = try noticingSeparator(of: source, importer)
    let (name, position) = destination
    let detection = detect ?? true ? try detection(of: source, importer) : [:]
    // A column that comes near to a type is text, too, but the user should hear of it.
    importer.fallbackTypes = detection.compactMapValues { $0.type ?? ($0.nearMiss == nil ? nil : .string) }
    return Intake(nearMisses: detection.compactMapValues(\.nearMiss)) { [importer] tx, progress in
      try importer.run(source, into: name, at: position, in: &tx, progress: progress)
    }
  }

  private func detection(
    of source: ImportSource, _ importer: TableImport
  ) throws -> [String: ColumnDetection] {
    do { return try importer.detection(of: source) } catch let error as StoreError {
      throw ImportAdvice.added(to: error)
    }
  }

  /// The importer, with another separator than the comma if the first line suggests one. Otherwise, the file would
  /// become one field with a long name.
  private func noticingSeparator(of source: ImportSource, _ importer: TableImport) throws -> TableImport {
    guard case .delimited(var delimited, let hasHeader) = importer.format,
      let stray = StraySeparator(in: source, as: delimited)
    else { return importer }
    var importer = importer
    switch stray {
    case .declared(let separator):
      delimited.skippedLines += 1
      if exchange.separator == nil { delimited.separator = separator.asciiValue ?? delimited.separator }
    case _ where exchange.separator != nil: return importer
    case .besideCommas(let other):
      Terminal.note(
        "the first line has both ',' and \(other.named); if \(other.named) separates the fields, give "
          + "--separator \(other.option)")
    case .inQuotes(let other):
      Terminal.note("the first line is a single field in quotes, although it has \(other.named) in it")
    case .alone(let other) where !hasHeader && importer.fields.count <= 1:
      Terminal.note(
        "the first line has \(other.named) but no ','; give --separator \(other.option) if \(other.named) "
          + "separates the fields")
    case .alone(let other):
      Terminal.note("the fields are separated by \(other.named); if they are not, give --separator ,")
      delimited.separator = other.asciiValue ?? delimited.separator
    }
    importer.format = .delimited(delimited, hasHeader: hasHeader)
    return importer
  }

  private func intake(_ source: DatabaseImport) throws -> Intake {
    let (name, position) = destination
    let extra = try FileDBTool.needExtra()
    return Intake { tx, progress in
      try extra.run(source, into: name, at: position, in: &tx, progress: progress)
    }
  }

  private var destination: (TableName<Fields>, Position<Fields>) {
    (TableName(table.name), place.position ?? .bottom)
  }

  private func importer(_ format: ExchangeFormat) throws -> TableImport {
    try database.checkIsAbsent()
    var format = format
    if case .delimited(let delimited, _) = format {
      format = .delimited(delimited, hasHeader: exchange.header ?? (columns == nil))
    } else {
      try checkIsNotForText()
    }
    var importer = TableImport(format: format)
    input.apply(to: &importer)
    importer.fields = Self.names(columns) ?? []
    importer.types = try fieldTypes()
    importer.schema = try schema.map(FrictionlessSchema.read)
    importer.columnOrder = .asInFile
    importer.emptyText = empty ?? .missing
    importer.matching = matching
    importer.onError = onError
    importer.unmatched = deleteMissing ? .deleted : .kept
    return importer
  }

  private func importer(ofDatabase file: URL) throws -> DatabaseImport {
    try checkIsNotForText()
    var importer = DatabaseImport(source: database.source(named: table.name), file: file)
    importer.types = try fieldTypes()
    importer.schema = try schema.map(FrictionlessSchema.read)
    importer.matching = matching
    importer.onError = onError
    importer.unmatched = deleteMissing ? .deleted : .kept
    return importer
  }

  private var matching: TableImport.Matching {
    Self.names(key).map(TableImport.Matching.key) ?? (ids ? .id : .nothing)
  }

  private func checkIsNotForText() throws {
    try input.checkIsAbsent()
    guard columns == nil, detect == nil, empty == nil || empty == .clear else {
      throw ValidationError("--columns, --detect and --empty are for csv and tsv.")
    }
  }

  private func source() throws -> ImportSource {
    // A pipe delivers at the pace of its writer. Nobody should wait for the store meanwhile.
    guard file != "-" else { return try ImportSource.standardInput.spooled() }
    let url = URL(fileURLWithPath: file)
    let source = ImportSource(url, name: file)
    guard InputFile.isRegular(url) else { return try source.spooled() }
    _ = try InputFile(url)  // Report an unreadable file before the store is locked.
    return PackedFile.begins(url) ? try PackedFile.source(url, name: file).spooled() : source
  }

  /// - Parameter former: the number of records before.
  private func say(
    _ report: ImportReport, _ nearMisses: [String: ColumnDetection.NearMiss], former: Int
  ) throws {
    var advised: Set<StoreError.Code> = []
    for error in report.skipped {
      let isFirst = advised.insert(error.code).inserted
      Terminal.complain((isFirst ? ImportAdvice.added(to: error) : error).description)
    }
    Terminal.note(newTypes: report.newTypes)
    for (column, type) in report.newTypes.sorted(by: { $0.key < $1.key }) where type == .string {
      if let miss = nearMisses[column] { Terminal.note(ImportAdvice.text(for: miss, of: column)) }
    }
    for (field, type) in report.tableTypes.sorted(by: { $0.key < $1.key }) {
      Terminal.note("\(field): read as \(type), as in the table")
    }
    if report.ignoredIDs > 0 {
      Terminal.note(
        "the field 'id' was left out, because exports write the record's id there; to import it, call it 'fields.id'"
      )
    }
    if report.storedIDs > 0 {
      Terminal.note(
        "the column 'id' becomes the field 'fields.id'; with --ids, it gives the ids of the records")
    }
    let would = options.dryRun ? "would be " : ""
    let taken = report.added + report.changed + report.unchanged
    let skipped = report.skipped.isEmpty ? "" : ", \(report.skipped.count.grouped) skipped"
    if key != nil || ids {
      Terminal.note(
        "\(report.added.grouped) \(would)added, \(report.changed.grouped) \(would)changed, "
          + (deleteMissing ? "\(report.deleted.grouped) \(would)deleted, " : "")
          + "\(report.unchanged.grouped) unchanged"
          + skipped)
    } else {
      Terminal.note("\(report.added.counted("record")) \(would)imported into '\(table.name)'" + skipped)
      if former > 0, report.added > 0 {
        Terminal.note(
          "'\(table.name)' had \(former.counted("record")) before; to change those instead of adding more, give --key "
            + "FIELD or --ids")
      }
    }
    if taken == 0, !report.skipped.isEmpty { throw ExitCode(65) }
  }

  private static func names(_ list: String?) -> [String]? {
    list?.parts(between: ",")
  }

  private func fieldTypes() throws -> [String: FieldType] {
    var result: [String: FieldType] = [:]
    for item in types?.parts(between: ",") ?? [] where !item.isEmpty {
      guard let equals = item.unicodeScalars.lastIndex(of: "=") else {
        throw ValidationError("--types takes FIELD=TYPE, not '\(item)'.")
      }
      result[String(item[..<equals])] = try FieldType(named: String(item[item.index(after: equals)...]))
    }
    return result
  }
}

extension Character {
  /// A separator in a message.
  fileprivate var named: String { self == "\t" ? "a tab" : "'\(self)'" }

  /// A separator as `--separator` takes it in a shell.
  fileprivate var option: String { self == "\t" ? "tab" : "'\(self)'" }
}
