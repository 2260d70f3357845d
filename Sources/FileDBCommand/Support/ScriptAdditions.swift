import FileDB

/// Consecutive lines `add TABLE FIELD=VALUE …` of a script, for one table and without options.
///
/// Most lines of a long script are like this. They are carried out together. With ArgumentParser and a separate change
/// for each line, it would take a hundred times as long.
struct ScriptAdditions {
  private let output: Terminal.Buffer
  private let script: Script
  private var table: TableName<Fields>?
  private var schema: TableSchema?
  private var records: [(fields: Fields, line: Int)] = []
  /// The lines of the commands that were carried out.
  var lines = ScriptLines()

  /// - Parameter output: receives the ids.
  init(to output: Terminal.Buffer, of script: Script) { (self.output, self.script) = (output, script) }

  /// Accepts a command, to be carried out together with the next ones.
  /// - Returns: false if ``Add`` must handle it: it is another command, has an option or an error, or its table does
  ///   not exist.
  /// - Throws: ``ScriptError`` of this command, or of one before it.
  mutating func take(_ command: Script.Command, in transaction: inout StoreTransaction) throws -> Bool {
    let words = command.words
    guard words.count >= 2, words[0] == "add", !words.contains(where: { $0.utf8.first == UInt8(ascii: "-") }),
      let fields = try? words.dropFirst(2).map(FieldAssignment.init(argument:)),
      try isReady(for: TableReference(argument: words[1]), in: &transaction)
    else { return false }
    do {
      records.append((try FieldChanges(fields, for: schema).newRecord(), command.line))
      return true
    } catch {
      try make(in: &transaction)  // Report earlier errors first.
      throw ScriptError(file: script.name, line: command.line, cause: error)
    }
  }

  /// Carries out the accepted commands.
  mutating func make(in transaction: inout StoreTransaction) throws {
    defer { (table, records) = (nil, []) }
    guard let table, !records.isEmpty else { return }
    let target = try transaction[table]
    lines.begin(records.map(\.line), at: transaction.changeCount)
    do {
      let ids = try target.add(contentsOf: records.map(\.fields))
      output.append(ids.map { "\($0)\n" }.joined())
    } catch {
      // Nothing was added. Add them one by one, to find the wrong one.
      for (fields, line) in records {
        do { try target.add(fields) } catch {
          throw ScriptError(file: script.name, line: line, cause: error)
        }
      }
      throw error
    }
  }

  /// - Returns: whether this is an existing table.
  private mutating func isReady(
    for reference: TableReference, in transaction: inout StoreTransaction
  ) throws -> Bool {
    if reference.isPath { return false }
    if let table, table.text.utf8.elementsEqual(reference.name.utf8) { return true }
    try make(in: &transaction)
    let next = TableName<Fields>(reference.name)
    guard let snapshot = try? transaction[next].snapshot(), snapshot.exists else { return false }
    (table, schema) = (next, snapshot.knownSchema)
    return true
  }
}

/// For each change of a script's transaction, the lines that made it.
struct ScriptLines {
  private var parts: [(start: Int, lines: [Int])] = []

  /// - Parameters:
  ///   - lines: the lines of the commands that make the next changes: one line, or one for each record of a change.
  ///   - changeCount: the number of changes before.
  mutating func begin(_ lines: [Int], at changeCount: Int) {
    if !lines.isEmpty { parts.append((changeCount, lines)) }
  }

  func line(of change: (number: Int, record: Int)) -> Int? {
    let part = parts.last { $0.start <= change.number }
    return part.flatMap { $0.lines.count == 1 ? $0.lines[0] : $0.lines.dropFirst(change.record).first }
  }
}
