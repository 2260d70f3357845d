import ArgumentParser
import Dispatch
import FileDB
import FileDBEssentials

struct Watch: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print each change of a table when it happens, by any program.",
    discussion: """
      The command ends with exit code 0 on ^C, when it is terminated, or when nobody reads its output any more.

      With --format ndjson each line is an object. It has the "kind" of the step (delete, move, insert or update), the \
      record's "id" and its "index", counted from 0. A move also has the index it came "from"; an insert and an update \
      have the record's "fields". If you carry out the steps one after another on the old list of records, you get the \
      new list. Changes that come faster than filedb can print them are combined into one.

      With --where, filedb watches only the records that match. A record that begins to match is inserted, and one \
      that no longer matches is deleted. 'filedb help show' explains predicates.
      """)

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var matching: WhereOption
  @Option(help: "table is for people and may change, ndjson is stable.") var format = WatchFormat.table

  static var use: StoreUse { .untilEnd }

  func run() throws {
    let table = try existingTable(table)
    let (shown, format, isOver) = try (table.snapshot(), format, DispatchSemaphore(value: 0))
    let predicate = try matching.predicate(for: shown)
    let changes =
      predicate.map { table.changes(where: $0, since: shown) } ?? table.changes(since: shown)
    let printing = Task {
      await Self.printChanges(changes, as: format)
      isOver.signal()
    }
    let complaining = Task {
      for await error in table.store.observationErrors() {
        if let error { Terminal.complain(error.description) }
      }
    }
    let endings = Self.callAtEnd { printing.cancel() }
    if let predicate { Terminal.note(predicate.unknownFields(in: shown), in: shown.table) }
    Terminal.note("watching '\(table.name.text)'; ^C ends")
    isOver.wait()  // The main thread has nothing else to do.
    complaining.cancel()
    withExtendedLifetime(endings) {}
  }

  private static func printChanges(
    _ changes: ChangeSequence<TableChange<Fields>>, as format: WatchFormat
  ) async {
    for await change in changes {
      for step in change.steps.sequence { Terminal.print(format.line(step, of: change)) }
      guard StandardOutput.flushIfRead() else { return }
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
