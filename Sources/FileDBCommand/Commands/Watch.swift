import ArgumentParser
import Dispatch
import FileDB
import FileDBEssentials

struct Watch: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change of a table when it happens, by any program.",
    discussion: """
      The command ends with exit code 0 on ^C, when it is terminated, or when nobody reads its output any more.

      \(ChangeRows.explanation) Changes that come faster than filedb can print them are combined into one. json and \
      plist are whole only at the end; to read each step when it happens, use ndjson.

      With --where, filedb watches only the records that match. A record that begins to match is inserted, and one \
      that no longer matches is deleted. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var matching: WhereOption
  @OptionGroup var output: FormatOption

  var use: StoreUse { .untilEnd }

  func run() throws {
    let table = try existingTable(table)
    let (shown, isOver) = try (table.snapshot(), DispatchSemaphore(value: 0))
    let predicate = try matching.predicate()
    let changes =
      predicate.map { table.changes(where: $0, since: shown) } ?? table.changes(since: shown)
    let printing = Task { [output] in
      defer { isOver.signal() }
      do { try await Self.printChanges(changes, in: output) } catch { Terminal.complain("\(error)") }
    }
    let complaining = Task {
      for await error in table.store.observationErrors() {
        if let error { Terminal.complain(error.description) }
      }
    }
    let copying = Task {
      for await copies in table.store.newConflictCopies() { Self.note(copies, of: table.name.text) }
    }
    let endings = Self.callAtEnd { printing.cancel() }
    for fault in predicate?.faults(in: shown, unknown: predicate?.unknownFields(in: shown) ?? []) ?? [] {
      Terminal.note(fault)
    }
    Terminal.note("watching '\(table.name.text)'; ^C ends")
    isOver.wait()  // The main thread has nothing else to do.
    complaining.cancel()
    copying.cancel()
    withExtendedLifetime(endings) {}
  }

  private static func printChanges(
    _ changes: ChangeSequence<TableChange<Fields>>, in output: FormatOption
  ) async throws {
    var stream = RowStream(output, columns: ChangeRows.columns)
    stream?.begin()
    for await change in changes {
      if stream != nil {
        for row in ChangeRows.rows(of: change) { try stream?.print(row) }
      } else {
        for step in change.steps.sequence { Terminal.print(line(step, of: change)) }
      }
      guard StandardOutput.flushIfRead() else { return }
    }
    stream?.end()
  }

  /// Tells of the copies of the table that a sync service has made.
  private static func note(_ copies: [ConflictCopy], of table: String) {
    for copy in copies where TableKey(copy.table) == TableKey(table) {
      Terminal.note(
        "'\(copy.url.lastPathComponent)' is \(copy.kind); 'filedb conflicts merge' merges it")
    }
  }

  /// Calls `end` on ^C, on a signal to terminate, and when nobody reads the output any more.
  private static func callAtEnd(_ end: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    signal(SIGPIPE, SIG_IGN)  // A failing write reports the same.
    DispatchQueue(label: "filedb.reader").async {  // A queue of its own, so that it has a thread of its own.
      StandardOutput.waitUntilUnread()
      end()
    }
    return EndSignals.call {
      end()
      // If the other end of a full pipe neither reads nor closes it, a write to it never ends.
      DispatchQueue.global().asyncAfter(deadline: .now() + 1) { exit() }
    }
  }
}

extension Watch {
  /// A step as a line for people.
  private static func line(_ step: ListStep, of change: TableChange<Fields>) -> String {
    let line = TerminalText.defused(text(step, of: change))
    return Terminal.width.map { TerminalText.truncated(line, to: $0) } ?? line
  }

  private static func text(_ step: ListStep, of change: TableChange<Fields>) -> String {
    switch step {
    case .delete(let id, let index): "delete \(id) from index \(index)"
    case .insert(let id, let index):
      "insert \(id) at index \(index): \(news(in: change.after[index].fields, since: Fields()))"
    case .move(let id, let oldIndex, let index): "move \(id) from index \(oldIndex) to \(index)"
    case .update(let id, let index):
      "update \(id) at index \(index): "
        + news(in: change.after[index].fields, since: change.before[id: RecordID(id)]?.fields ?? Fields())
    }
  }

  /// The fields that are new or changed, and the names of those that are gone.
  private static func news(in record: Fields, since before: Fields) -> String {
    let new = record.dictionary.filter { before[$0.key] != $0.value }.map { "\($0.key)=\($0.value.cell)" }
    let gone = before.dictionary.filter { record[$0.key] == nil }.map { "-\($0.key)" }
    return (new + gone).joined(separator: ", ")
  }
}
