import ArgumentParser
import FileDB

/// The option `--yes` of a command that removes a lot.
struct ConfirmOption: ParsableArguments {
  @Flag(help: "Do not ask for confirmation. Required without a terminal.") var yes = false

  /// - Throws: `ValidationError` if the command could not ask for confirmation.
  func check(_ options: WriteOptions) throws {
    guard yes || options.dryRun || Terminal.isAnswering else {
      throw ValidationError(
        "Cannot ask for confirmation without a terminal. Give --yes, or try it with --dry-run.")
    }
  }

  /// Asks whether to change a table. The question names what the change would do to other tables.
  /// - Parameter what: what the change does, for example "Remove 'food' with its 3 records".
  /// - Throws: exit code 1 if the answer is no.
  func ask(
    _ what: @autoclosure () throws -> String, _ table: RecordTable<Fields>, _ options: WriteOptions,
    _ change: (RecordTable<Fields>) throws -> Void
  ) throws {
    if yes || options.dryRun { return }
    let consequences = try table.consequences(of: change)
    try Terminal.demand(([what()] + consequences.map(\.question)).joined(separator: ", and ") + "?")
  }
}

extension Terminal {
  /// - Throws: exit code 1 if the answer is no.
  static func demand(_ question: String) throws { if !confirm(question) { throw ExitCode(1) } }
}

extension RecordTable<Fields> {
  /// What a change of this table would do to the records of others.
  func consequences(of change: (RecordTable<Fields>) throws -> Void) throws -> [Consequence] {
    try store.dryRun { tx in
      try change(tx[name])
      return try tx.allConsequences()
    }
  }
}

extension Consequence {
  /// What happened, for people.
  func report(by options: WriteOptions) -> String {
    let verb = (options.dryRun ? "would be " : "") + (effect == .deletion ? "deleted" : "changed")
    let referred =
      options.dryRun
      ? (records == 1 ? "it refers" : "they refer") : (records == 1 ? "it" : "they") + " referred"
    return "\(table): \(records.counted("record")) \(verb), because \(referred) to deleted records"
  }

  /// What would happen, as a part of a question.
  var question: String {
    "\(effect == .deletion ? "delete" : "change") \(records.counted("record")) of '\(table)'"
  }
}
