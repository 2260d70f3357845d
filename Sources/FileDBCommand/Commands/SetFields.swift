import ArgumentParser
import FileDB

struct SetFields: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set fields of records, by their ids or by a condition.",
    usage: """
      filedb set <table> <id> ... <field=value> ... [--dry-run]
      filedb set <table> --where <predicate> <field=value> ... [--dry-run]
      """,
    discussion: """
      The records keep their other fields. If one of the records does not exist, or no record matches, nothing is \
      changed, and the exit code is 1. 'filedb help show' explains predicates and expressions. An expression sees each \
      record as it was before the command; $NAME in it stands for the value of --arg. The ids may stand before or \
      behind the fields, or between them.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp(FieldAssignment.help.abstract, valueName: "id|field=value"),
    transform: ManyWords.each(SetArgument.init(argument:)))
  var arguments: [[SetArgument]]
  @OptionGroup var condition: WriteCondition
  @OptionGroup var options: WriteOptions

  private var ids: [RecordID<Fields>] { arguments.joined().compactMap(\.id) }
  private var assignments: [FieldAssignment] { arguments.joined().compactMap(\.assignment) }

  func validate() throws {
    try condition.matching.validate(besides: ids)
    if assignments.isEmpty { throw ValidationError("Say what to set: FIELD=VALUE.") }
  }

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let schema = snapshot.knownSchema
    let changes = try FieldChanges(assignments, for: schema, arguments: condition.matching.values())
    Terminal.note(undeclared: assignments, in: schema, of: table.name.text)
    Terminal.note(untyped: assignments, in: snapshot)
    let count = try options.write(table.store) { tx -> Int? in
      let matches = try condition.records(of: tx[table.name].snapshot(), besides: changes.usedArguments)
      var count = 0
      for id in matches?.map(\.id) ?? ids where try changes.apply(to: id, in: table.name, &tx) { count += 1 }
      return matches == nil ? nil : count
    }
    if let count { Terminal.note(count, "changed", by: options) }
  }
}

/// The id of a record to change, or a change.
enum SetArgument {
  case id(RecordID<Fields>)
  case assignment(FieldAssignment)

  init(argument: String) throws {
    if let id = RecordID<Fields>(argument) {
      self = .id(id)
    } else {
      self = .assignment(try FieldAssignment(argument: argument))
    }
  }

  var id: RecordID<Fields>? { if case .id(let id) = self { id } else { nil } }
  var assignment: FieldAssignment? { if case .assignment(let assignment) = self { assignment } else { nil } }
}
