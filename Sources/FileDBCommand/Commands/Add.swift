import ArgumentParser
import FileDB

struct Add: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a record and print its id.",
    discussion: "The record goes to the bottom, unless you give a place.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp(FieldAssignment.help.abstract, valueName: "fields"),
    transform: ManyWords.each(FieldAssignment.init(argument:)))
  var words: [[FieldAssignment]] = []
  @OptionGroup var place: PositionOptions
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let schema = snapshot.knownSchema
    let fields = words.flatMap(\.self)
    let record = try FieldChanges(fields, for: schema).newRecord()
    Terminal.note(undeclared: fields, in: schema, of: table.name.text)
    Terminal.note(untyped: fields, in: snapshot)
    Terminal.note(unreadFiles: fields)
    let id = try options.write(table.store) { tx in
      try tx[table.name].add(record, at: place.position ?? .bottom)
    }
    Terminal.print(id.description)
  }
}
