import ArgumentParser
import FileDB

struct Unset: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset", abstract: "Remove fields from records, by their ids or by a condition.",
    usage: """
      filedb unset <table> <id> ... <field> ... [--dry-run]
      filedb unset <table> --where <predicate> <field> ... [--dry-run]
      """,
    discussion: """
      A.B is the value B in the dictionary A. It is not an error if a field does not exist. A word of digits is an id, and \
      1,2,5-9 are several; if all words are ids, the first is the id and the others are fields. If one of the records does not exist, or no \
      record matches, nothing is changed, and the exit code is 1.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(
    help: ArgumentHelp("The ids of the records, and then the fields.", valueName: "id|field"),
    transform: ManyWords.each { $0 })
  var packed: [[String]]
  @OptionGroup var condition: WriteCondition
  @OptionGroup var options: WriteOptions

  private var words: [String] { packed.flatMap(\.self) }

  private var ids: [IDWord] {
    if condition.matching.isGiven { return [] }
    let ids = words.compactMap { IDWord($0) }
    return ids.count < words.count ? ids : Array(ids.prefix(1))
  }

  private func fields() throws -> [RemovedField] {
    let others = words.filter { IDWord($0) == nil }
    let names = condition.matching.isGiven ? words : others.isEmpty ? Array(words.dropFirst()) : others
    return try names.map(RemovedField.init(argument:))
  }

  func validate() throws {
    try condition.matching.validate(besides: ids)
    if try fields().isEmpty { throw ValidationError("Say which fields to remove.") }
  }

  func run() throws {
    let table = try existingTable(table)
    let changes = FieldChanges(removing: try fields())
    let chosen = try ChosenRecords(ids, condition)
    let count = try options.write(table.store) { tx in
      try changes.apply(to: chosen.ids(in: tx[table.name].snapshot()), in: table.name, &tx)
    }
    if chosen.isCounted { Terminal.note(count, "changed", by: options) }
  }
}
