import ArgumentParser
import FileDB
import FileDBExchange
import FileDBPlist

struct SchemaCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Show or change the rules that a table declares for its fields.",
    usage: """
      filedb schema <table> [--format <format> | --frictionless]
      filedb schema <table> <field> [--type <type>] [--required] [--unique] ... [--convert]
      filedb schema <table> [<field>] --remove
      filedb schema <table> --suggest
      filedb schema <table> --migrate
      filedb schema <table> --schema <file>
      """,
    discussion: """
      The schema is stored in the table's file. It applies to every write, of this program and of apps that use \
      FileDB. A write checks the fields that it adds or changes. A record that breaks a rule can still be moved and \
      deleted.

      Rules that you do not name stay as they are. --without removes one rule of a field, and --remove all rules of a \
      field. Without a field, --remove removes the whole schema. The records stay as they are. A new rule is checked \
      against the existing records. --convert converts their values into the field's type. If a value cannot be \
      converted, nothing is changed, and the message names the records.

      --suggest prints commands that declare rules which all records keep already. 'filedb batch' can run them.

      In json and plist, the output is the schema as it is in the table's file. In ndjson, csv, tsv and markdown, there \
      is a row for each field.

      A schema may have a version, and a program may store a version with each record. This command then counts the \
      records of each version. --migrate makes the corrections that follow from the schema alone: a missing required \
      field gets its default value, and a value that can be read as the declared type is converted. It leaves records \
      of an older version alone, because only the program that declared the schema can migrate them, and prints how \
      many there are.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp("The field to declare.", valueName: "field"), transform: DeclaredField.init(argument:))
  var declared: DeclaredField?
  @OptionGroup var rules: RuleOptions
  @Flag(help: "Convert the existing values into the field's type.") var convert = false
  @Flag(help: "Remove the field's rules, or the whole schema.") var remove = false
  @Flag(help: "Print commands that declare rules which all records keep already.") var suggest = false
  @Flag(help: "Make the corrections that follow from the schema alone.") var migrate = false
  @Option(
    help: ArgumentHelp(
      "Declare the fields of a Frictionless Table Schema, a JSON file, in place of the table's schema.",
      valueName: "file"))
  var schema: String?
  @Flag(help: "Print the schema as a Frictionless Table Schema, a JSON file.") var frictionless = false
  @OptionGroup var output: FormatOption
  @OptionGroup var options: WriteOptions

  private var field: String? { declared?.name }
  private var declares: Bool { convert || !rules.isEmpty }

  var use: StoreUse { remove || migrate || schema != nil || declares ? .writing : .once }

  func validate() throws {
    if field == nil, declares { throw ValidationError("Name the field to declare.") }
    let actions = [remove, suggest, migrate, schema != nil, declares]
    if actions.count(where: \.self) > 1 {
      throw ValidationError("Only one of --remove, --suggest, --migrate, --schema and rules at a time.")
    }
    if frictionless, output.format != .table {
      throw ValidationError("Give only one of --format and --frictionless.")
    }
    if field != nil, suggest || migrate || schema != nil {
      throw ValidationError("--suggest, --migrate and --schema take no field.")
    }
  }

  func run() throws {
    let table = try existingTable(table)
    if suggest { return try printSuggestion(for: table) }
    if migrate { return try migrateRecords(of: table) }
    if let schema { return try declare(FrictionlessSchema.read(schema), table) }
    if remove { return try removeRules(of: table) }
    if let field, declares { return try declare(field, in: table) }
    try show(table)
  }

  // MARK: - Looking

  private func show(_ table: RecordTable<Fields>) throws {
    let schema = try table.snapshot().schema
    if let field, schema?[field] == nil {
      let nearest = NearestName(to: field, among: schema?.fields.map(\.name) ?? []).name
      throw StoreError(
        .recordNotFound, "the field is not declared" + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
        table: table.name.text, field: field)
    }
    var shown = schema
    if let field { shown?.fields.removeAll { compareUTF8($0.name, field) != 0 } }
    if schema == nil, isForPeople {
      return Terminal.note(
        "'\(table.name.text)' declares nothing; 'filedb schema \(ShellText.word(self.table.argument)) --suggest' proposes rules"
      )
    }
    try print(shown)
    if field == nil, isForPeople, let versions = try table.snapshot().recordVersions {
      Terminal.print("records: \(versions.text)")
    }
  }

  private func printSuggestion(for table: RecordTable<Fields>) throws {
    let snapshot = try table.snapshot()
    let suggestion = SchemaSuggestion(for: snapshot)
    if suggestion.fields.isEmpty { Terminal.note("there is nothing to suggest") }
    guard isForPeople else {
      var schema = try snapshot.schema ?? TableSchema()
      for field in suggestion.fields { schema[field.rules.name] = field.rules }
      return try print(schema)
    }
    for field in suggestion.fields {
      Terminal.print(TerminalText.defused(field.command(for: self.table.argument)))
    }
  }

  private var isForPeople: Bool { output.format == .table && !frictionless }

  /// - Parameter schema: `nil` if there is none.
  private func print(_ schema: TableSchema?) throws {
    if frictionless { return Terminal.print(FrictionlessSchema.text(of: schema ?? TableSchema())) }
    switch output.format {
    case .table: if let schema { SchemaPrinter(schema).print() }
    case .json: Terminal.print(schema.map { JSONText.value($0.plist) } ?? "null")
    case .plist: Terminal.print(bytes: try PlistWriter.document(schema?.plist ?? [:]))
    case .ndjson, .csv, .tsv, .markdown:
      let rows = (schema?.fields ?? []).map { field in SchemaKey.ofField.map { field.plist.dict?[$0] } }
      try SummaryPrinter(output: output, titles: SchemaKey.ofField, keyCount: 0).print(rows)
    }
  }

  // MARK: - Changing

  private func write(_ table: RecordTable<Fields>, _ body: (RecordTable<Fields>) throws -> Void) throws {
    try options.write(table.store, named: "schema of \(table.name.text)") { tx in try body(tx[table.name]) }
  }

  private func declare(_ schema: TableSchema, _ table: RecordTable<Fields>) throws {
    try write(table) { try $0.declare(schema) }
  }

  private func migrateRecords(of table: RecordTable<Fields>) throws {
    guard try table.snapshot().schema != nil else {
      throw StoreError(.invalidSchema, "the table declares nothing", table: table.name.text)
    }
    var repairs: [FieldRepair] = []
    try write(table) { table in repairs = try table.repairFields { $0.converted(to: $1) } }
    for repair in repairs { Terminal.print(TerminalText.defused(repair.text)) }
    Terminal.note(Set(repairs.filter { $0.change != nil }.map(\.record)).count, "changed", by: options)
    if let count = try table.snapshot().recordVersions?.olderCount, count > 0 {
      Terminal.note(
        "\(count.counted("record")) of an older version: only the program that declared the schema can migrate them"
      )
    }
    if repairs.contains(where: { $0.change == nil }) { throw ExitCode(65) }
  }

  private func removeRules(of table: RecordTable<Fields>) throws {
    try write(table) { table in
      guard let field else { return try table.declare(nil) }
      guard var schema = try table.snapshot().schema, schema[field] != nil else {
        throw StoreError(.recordNotFound, "the field is not declared", table: table.name.text, field: field)
      }
      schema[field] = nil
      schema.unique.removeAll { $0.contains { compareUTF8($0, field) == 0 } }
      try table.declare(schema)
    }
  }

  private func declare(_ name: String, in table: RecordTable<Fields>) throws {
    do {
      try write(table) { table in
        var schema = try table.snapshot().schema ?? TableSchema()
        let field = try rules.applied(to: schema[name] ?? FieldSchema(name), store: table.store)
        if convert {
          let count = try table.convertField(declaring: field) { value in
            field.type.map { value.converted(to: $0) } ?? value
          }
          Terminal.note(count, "changed", by: options)
          schema = try table.snapshot().schema ?? TableSchema()
        }
        schema[name] = field
        rules.apply(toGroupsOf: name, in: &schema)
        try table.declare(schema)
      }
    } catch let error as StoreError where error.code == .wrongType && !convert && error.record != nil {
      var error = error
      error.message += "; to change the values that are there, add --convert"
      throw error
    }
  }
}

/// A field of a schema. It is not a value inside a dictionary.
struct DeclaredField {
  let name: String

  init(argument: String) throws {
    guard case .path(let names)? = FieldReference(argument), names.count == 1 else {
      throw ValidationError(
        "'\(argument)' is not a field that can be declared; a dictionary is declared as a whole.")
    }
    name = names[0].text
  }
}

extension FieldRepair {
  /// What was done, or what is wrong, in one line.
  var text: String { "record \(record): field '\(field)': \(change ?? error.message)" }
}

extension RecordVersions {
  /// The number of records of each version, newest first.
  fileprivate var text: String {
    let versions = counts.sorted { $0.key > $1.key }.map { "\($0.value.grouped) of version \($0.key)" }
    if versions.isEmpty { return "\(unversionedCount.grouped), without versions of their own" }
    return (versions + (unversionedCount > 0 ? ["\(unversionedCount.grouped) without a version"] : []))
      .joined(separator: ", ")
  }
}
