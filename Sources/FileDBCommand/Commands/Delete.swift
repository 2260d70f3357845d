import ArgumentParser
import FileDB

struct Delete: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete records, by their ids or by a condition.",
    discussion: """
      If one of the ids is not there, or no record matches, none is deleted, and the exit code is 1. 'filedb help show' says \
      what a PREDICATE is.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference
  @Argument var ids: [RecordID] = []
  @OptionGroup var matching: WhereOption
  @OptionGroup var options: WriteOptions

  func validate() throws { try matching.validate(besides: ids) }

  func run() throws {
    let table = try existingTable(table)
    guard let predicate = try matching.predicate(for: table.snapshot) else {
      return try options.write(table.store) { tx in try tx.delete(ids, in: table.name) }
    }
    let count = try options.write(table.store) { tx in
      let deleted = try tx.delete(where: predicate, in: table.name)
      if deleted.isEmpty { throw StoreError.noMatch(in: table.name) }
      return deleted.count
    }
    Terminal.note(count, "deleted", by: options)
  }
}
