import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBPlist

struct ConflictsList: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Print the conflicts that nobody has settled.",
    discussion: """
      The exit code is 1 if there are some. In all formats but table, each conflict is a row.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @OptionGroup var chosen: TableArguments
  @OptionGroup var output: FormatOption

  private var tables: [TableReference] { chosen.references }

  func run() throws {
    let tables = try tables.isEmpty ? TableConflicts.all(in: existingStore()) : tables.map(conflicts)
    if output.format == .table { printLines(of: tables) } else { try printRows(of: tables) }
    let count = tables.reduce(0) { $0 + $1.open.count }
    guard count > 0 else { return Terminal.note("no conflicts") }
    if tables.contains(where: \.isOfEdits) {
      Terminal.note("'ours' is what the store has, 'theirs' what the file in this folder had")
    }
    Terminal.note(
      "\(count.counted("conflict")); 'filedb conflicts take ours' or 'theirs' settles \(count == 1 ? "it" : "them")"
    )
    throw ExitCode(1)
  }

  private func printLines(of tables: [TableConflicts]) {
    for table in tables {
      let report = MergeReport(name: table.name, kind: .table)
      for conflict in table.open { for line in report.lines(conflict) { Terminal.print(line) } }
    }
  }

  private func printRows(of tables: [TableConflicts]) throws {
    let titles = ["table", "record", "field", "kind", "base", "ours", "theirs", "message"]
    let rows = tables.flatMap { table in table.open.map { [.string(table.name)] + $0.row } }
    try SummaryPrinter(output: output, titles: titles, keyCount: 0).print(rows)
  }
}

struct ConflictsTake: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "take", abstract: "Settle conflicts by one side's version.",
    discussion: """
      Settles all conflicts, those of one table, or those of the records and fields that you name as ID or ID.FIELD. \
      If only one table has conflicts, its name may be left out. The command changes the records as 'filedb set' and \
      'filedb delete' do. It stages nothing in git.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @Argument(help: ArgumentHelp("The side whose version to take.", valueName: "ours|theirs"))
  var side: MergeRenumbering.Side
  @Argument(
    help: ArgumentHelp("The table, and the records or fields.", valueName: "table|id[.field]"),
    transform: ManyWords.each { $0 })
  var packed: [[String]] = []
  @OptionGroup var options: WriteOptions

  func run() throws {
    for (table, targets) in try choice() {
      let chosen = targets.isEmpty ? table.open : try table.conflicts(named: targets)
      try settle(chosen, of: table)
    }
  }

  private var words: [String] { packed.flatMap(\.self) }

  /// The chosen tables, and which of their conflicts; all conflicts if none are named.
  private func choice() throws -> [(TableConflicts, [String])] {
    guard let first = words.first else {
      return try TableConflicts.all(in: existingStore()).filter { !$0.open.isEmpty }.map { ($0, []) }
    }
    let reference = TableReference(argument: first)
    if try reference.isPath || AnyRecordID(String(first.prefix { $0 != "." })) == nil
      || existingStore().table(reference.name).exists
    {
      return [(try conflicts(of: reference), Array(words.dropFirst()))]
    }
    let tables = try TableConflicts.all(in: existingStore()).filter { !$0.open.isEmpty }
    guard tables.count == 1 else {
      let names = tables.map { "'\($0.name)'" }.joined(separator: ", ")
      throw ValidationError(
        tables.isEmpty ? "There are no conflicts." : "Name the table first; there are conflicts in \(names).")
    }
    return [(tables[0], words)]
  }

  /// Several copies of a table may have different values for one field. Only one can be taken.
  private func checkIsOne(_ chosen: [MergeConflict], of table: TableConflicts) throws {
    let groups = Dictionary(grouping: chosen, by: \.subject).values.filter { $0.count > 1 }
    guard side == .theirs, let conflict = groups.first?[0] else { return }
    let place = conflict.record.map { record in "record \(record)" } ?? "the order"
    throw StoreError(
      .conflict,
      "several copies have different values for \(conflict.field.map { "'\($0)' of \(place)" } ?? place); "
        + "'filedb conflicts list' shows them. Set the one you want, and take 'ours' for the others",
      table: table.name)
  }

  private func settle(_ chosen: [MergeConflict], of table: TableConflicts) throws {
    try checkIsOne(chosen, of: table)
    let name = TableName.records(table.name)
    let settled = chosen.filter { side == .ours || $0.record != nil || $0.isOfOrder }
    try options.write(table.store, named: "merge of \(table.name), taking \(side)") { tx in
      for conflict in settled {
        let settlement = conflict.settlement(taking: side)
        if case .order(let ids) = settlement { try tx[name].order(as: ids) }
        guard let id = conflict.record.map(RecordID<Fields>.init) else { continue }
        switch settlement {
        case .none, .order: break
        case .set(let field, let value?): try tx[name].set(Fields([field: value]), of: id)
        case .set(let field, nil): try tx[name].unset([field], of: id)
        case .delete: try tx[name].delete(id)
        }
      }
    }
    if !options.dryRun { try table.forget(settled.filter { $0.isKept(by: side) }) }
    Terminal.note("\(table.name): \(settled.count) settled\(options.dryRun ? " on trial" : "")")
    let left = table.open.count - settled.count
    if settled.count < chosen.count {
      Terminal.note("\(table.name): settle the other conflicts in an editor, or by 'filedb schema'")
    }
    if left > 0 {
      Terminal.note("\(table.name): \(left) left")
    } else if table.isUnmerged {
      Terminal.note("\(table.name): no conflicts are left; run 'git add' next")
    }
  }
}

extension StoreCommand {
  fileprivate func conflicts(of reference: TableReference) throws -> TableConflicts {
    let table = try existingTable(reference)
    return try TableConflicts(table.name.text, in: table.store)
  }
}

extension MergeConflict {
  fileprivate var isOfOrder: Bool { if case .order = kind { true } else { false } }

  /// Whether a side's version is what the merge left. Then nothing in the table shows that the conflict is settled.
  fileprivate func isKept(by side: MergeRenumbering.Side) -> Bool {
    if case .none = settlement(taking: side) { true } else { false }
  }
}

extension MergeConflict {
  /// The record, the field, what happened, the values of the three versions, and a message.
  fileprivate var row: [PlistValue?] {
    let id = record.map { PlistValue.integer($0.rawValue) }
    func ids(_ ids: [AnyRecordID]) -> PlistValue { .array(ids.map { .integer($0.rawValue) }) }
    return switch kind {
    case .field(let field, let base, let ours, let theirs):
      [id, .string(field), "changed", base, ours, theirs, nil]
    case .deletedByOurs(let base, let theirs):
      [id, nil, "deleted by ours", .dict(base.dictionary), nil, .dict(theirs.dictionary), nil]
    case .deletedByTheirs(let base, let ours):
      [id, nil, "deleted by theirs", .dict(base.dictionary), .dict(ours.dictionary), nil, nil]
    case .rule(let field, let message): [id, .string(field), "rule", nil, nil, nil, .string(message)]
    case .order(let ours, let theirs): [id, nil, "order", nil, ids(ours), ids(theirs), nil]
    }
  }
}
