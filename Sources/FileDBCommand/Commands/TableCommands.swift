import ArgumentParser
import FileDB
import FileDBEssentials

struct TableCopy: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a table within the store.",
    discussion: """
      The copy has the same records with the same ids in the same order, and the same schema. It continues the ids of \
      the original. Fields that refer to the original itself refer to the copy.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The name of the copy.") var newName: String
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    let name = TableName<Fields>(newName)
    let count = try options.write(table.store, named: "copy of \(table.name.text) as \(newName)") { tx in
      try tx.copy(table.name, to: name)
    }
    Terminal.note(count, "copied", by: options)
  }
}

struct TableRename: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a table another name.",
    discussion: """
      The records keep their ids and their order, and the table its schema. The schemas of tables that refer to it are \
      changed, too.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @Argument(help: "The table's new name.") var newName: String
  @OptionGroup var options: WriteOptions

  func run() throws {
    let table = try existingTable(table)
    guard !table.store.isAttached(table.name.text) else {
      throw ValidationError("'\(table.name.text)' is a table of the attached store, which is read-only.")
    }
    let name = TableName<Fields>(newName)
    let step = "rename of \(table.name.text) to \(newName)"
    WriteOptions.noteRemovedLink(table)
    try options.write(table.store, named: step) { tx in
      _ = try tx.copy(table.name, to: name)
      for other in try table.store.tableNames where other != table.name.text && other != newName {
        try tx.redirect(.records(other), from: table.name, to: name)
      }
      try tx[table.name].drop()
    }
  }
}

extension StoreTransaction {
  /// - Returns: the number of records.
  /// - Throws: ``StoreError/Code/tableExists``.
  fileprivate mutating func copy(_ table: TableName<Fields>, to name: TableName<Fields>) throws -> Int {
    let original = try self[table].snapshot()
    guard try !self[name].snapshot().exists else {
      throw StoreError(.tableExists, "there is a table of this name already", table: name.text)
    }
    try self[name].create()
    if var schema = try original.schema {
      schema.redirect(from: table, to: name)
      schema.referencingTables = []  // Each table that refers to the copy adds itself to this list.
      try self[name].declare(schema.isEmpty ? nil : schema)
    }
    try self[name].add(identified: original.map { IdentifiedValue($0.fields, id: $0.id) }, at: .bottom)
    try self[name].raiseCounter(to: original.counter)
    return original.count
  }

  /// Makes the fields of a table that refer to one table refer to another.
  fileprivate mutating func redirect(
    _ table: TableName<Fields>, from old: TableName<Fields>, to new: TableName<Fields>
  ) throws {
    guard let former = try self[table].snapshot().schema else { return }
    var schema = former
    schema.redirect(from: old, to: new)
    if schema != former { try self[table].declare(schema) }
  }
}

extension TableSchema {
  fileprivate mutating func redirect(from old: TableName<Fields>, to new: TableName<Fields>) {
    for place in fields.indices where fields[place].references.map({ TableName($0.table) == old }) == true {
      fields[place].references?.table = new.text
    }
  }
}
