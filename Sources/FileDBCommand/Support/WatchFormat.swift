import ArgumentParser
import FileDB
import FileDBExchange

/// The formats for printing steps.
enum WatchFormat: String, ExpressibleByArgument, CaseIterable {
  case table, ndjson

  /// A step of a change as one line.
  func line(_ step: ListStep, of change: TableChange<Fields>) -> String {
    switch self {
    case .table:
      let line = TerminalText.defused(Self.text(step, of: change))
      return Terminal.width.map { TerminalText.truncated(line, to: $0) } ?? line
    case .ndjson: return Self.object(step, of: change)
    }
  }

  private static func object(_ step: ListStep, of change: TableChange<Fields>) -> String {
    func fields(_ index: Int) -> String { JSONText.value(.dict(change.after[index].fields.dictionary)) }
    return switch step {
    case .delete(let id, let index): "{\"kind\": \"delete\", \"id\": \(id), \"index\": \(index)}"
    case .insert(let id, let index):
      "{\"kind\": \"insert\", \"id\": \(id), \"index\": \(index), \"fields\": \(fields(index))}"
    case .move(let id, let oldIndex, let index):
      "{\"kind\": \"move\", \"id\": \(id), \"index\": \(index), \"from\": \(oldIndex)}"
    case .update(let id, let index):
      "{\"kind\": \"update\", \"id\": \(id), \"index\": \(index), \"fields\": \(fields(index))}"
    }
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
