import ArgumentParser
import FileDB

struct SetFields: WritingCommand {
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
      after the fields, or between them.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp(FieldAssignment.help.abstract, valueName: "id|field=value"),
    transform: ManyWords.each(SetArgument.init(argument:)))
  var arguments: [[SetArgument]]
  @OptionGroup var condition: WriteCondition
  @OptionGroup var options: WriteOptions

  private var ids: [IDWord] { arguments.joined().compactMap(\.ids) }
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
    Terminal.note(unreadFiles: assignments)
    let chosen = try ChosenRecords(ids, condition)
    let count = try options.write(table.store) { tx in
      let ids = try chosen.ids(in: tx[table.name].snapshot(), besides: changes.usedArguments)
      return try changes.apply(to: ids, in: table.name, &tx)
    }
    if chosen.isCounted { Terminal.note(count, "changed", by: options) }
  }
}

/// The ids of records to change, or a change.
enum SetArgument {
  case ids(IDWord)
  case assignment(FieldAssignment)

  init(argument: String) throws {
    if let ids = IDWord(argument) {
      self = .ids(ids)
    } else {
      self = .assignment(try FieldAssignment(argument: argument))
    }
  }

  var ids: IDWord? { if case .ids(let ids) = self { ids } else { nil } }
  var assignment: FieldAssignment? { if case .assignment(let assignment) = self { assignment } else { nil } }
}
