import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct Edit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Edit a record in your editor.",
    discussion: """
      Shows the record as a property list, or with --format json as JSON, in the editor that $VISUAL or $EDITOR names, \
      or else in vi. When you leave the editor, the record gets the fields of the text, and loses those that you \
      removed. If you changed nothing, nothing is written.

      If the text is wrong, or another program has changed the record in the meantime, nothing is written either. On a \
      terminal you may go back to the editor. Otherwise filedb keeps your text and prints where. JSON has no dates and \
      no data, only strings: a string becomes a date or data if the record has one in that field.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The id of the record.") var id: RecordID<Fields>
  @Option(help: "How the record is written.") var format = RecordText.plist
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let old = try table.snapshot().record(with: id).fields
    let text = try format.bytes(of: old)
    let file = try EditedFile(text, named: "filedb-\(table.name.text)-\(id)", extension: format.rawValue)
    while true {
      do { try file.edit() } catch {
        file.remove()
        throw error
      }
      let edited = try file.bytes()
      guard edited != text else {
        file.remove()
        return Terminal.note("nothing was changed")
      }
      do {
        try save(format.fields(from: edited, was: old, name: file.path), was: old, in: table)
        return file.remove()
      } catch let error as StoreError {
        try goOn(after: error, file)
      }
    }
  }

  /// Returns if the person wants to edit again.
  private func goOn(after error: StoreError, _ file: EditedFile) throws {
    if error.code == .recordNotFound || !Terminal.isAnswering {
      Terminal.note("nothing was changed; your text is in \(file.path)")
      throw error
    }
    Terminal.complain(error.description)
    guard Terminal.confirm("Edit it again?") else {
      Terminal.note("nothing was changed; your text is in \(file.path)")
      throw ExitCode(error.exitStatus)
    }
  }

  private func save(_ new: Fields, was old: Fields, in table: RecordTable<Fields>) throws {
    try options.write(table.store) { tx in
      guard try tx[table.name].record(with: id).fields == old else {
        throw StoreError(
          .editConflict, "the record has been changed in the meantime", table: table.name.text,
          record: id.plain)
      }
      try tx[table.name].set(new, of: id)
      try tx[table.name].unset(old.dictionary.keys.filter { new[$0] == nil }, of: id)
    }
  }
}

extension StoreError.Code {
  /// Another program has changed the record that is being edited.
  fileprivate static let editConflict = Self(rawValue: "editConflict")
}

extension RecordText: ExpressibleByArgument {}
