import ArgumentParser
import FileDB

struct FieldRename: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a field another name, in all records and in the schema.",
    discussion: "The schemas of tables that refer to the field are changed, too.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The field's name.") var field: String
  @Argument(help: "Its new name.") var newName: String
  @OptionGroup var options: WriteOptions

  func run() throws {
    let (old, new) = (try FieldReference.wholeField(field), try FieldReference.wholeField(newName))
    let table = try existingTable(table)
    try table.snapshot().checkHas(old)
    let name = "rename of \(old) to \(new) in \(table.name.text)"
    let count = try options.write(table.store, named: name) { tx in
      try tx[table.name].renameField(old, to: new)
    }
    Terminal.note(count, "changed", by: options)
  }
}

struct FieldDrop: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Remove a field from all records and from the schema.",
    discussion: "On a terminal, filedb asks before it does so. Elsewhere, give --yes.")

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The field's name.") var field: String
  @OptionGroup var options: WriteOptions
  @OptionGroup var confirmation: ConfirmOption

  func run() throws {
    try confirmation.check(options)
    let field = try FieldReference.wholeField(field)
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    try snapshot.checkHas(field)
    try confirmation.ask(
      "Remove '\(field)' from the \(snapshot.count.counted("record")) of '\(table.name.text)'", table, options
    ) { _ = try $0.removeField(field) }
    let name = "removal of \(field) from \(table.name.text)"
    let count = try options.write(table.store, named: name) { tx in try tx[table.name].removeField(field) }
    Terminal.note(count, "changed", by: options)
  }
}

extension FieldReference {
  /// The name of a whole field, not of a value inside it, as it is in the records. It is empty if `text` is: another
  /// program may have written a field without a name.
  /// - Throws: `ValidationError`.
  fileprivate static func wholeField(_ text: String) throws -> String {
    if text.isEmpty { return text }
    if case .path(let names) = try FieldReference(named: text), names.count == 1 { return names[0].text }
    throw ValidationError("'\(text)' is not a field of its own.")
  }
}

extension TableSnapshot<Fields> {
  /// - Throws: ``StoreError/Code/recordNotFound`` if no record has the field, and the schema does not declare it.
  fileprivate func checkHas(_ field: String) throws {
    let reference = FieldReference(field: field)
    let isDeclared = knownSchema?[field] != nil
    guard !isDeclared, isEmpty || !unknownFields(among: [reference]).isEmpty else { return }
    let guess = unknownFields(among: [reference]).first?.nearest.map { "; did you mean '\($0)'?" } ?? ""
    throw StoreError(.recordNotFound, "no record has the field\(guess)", table: table, field: reference.title)
  }
}
