import ArgumentParser
import FileDB
import FileDBExchange

/// How steps are printed.
enum WatchFormat: String, ExpressibleByArgument, CaseIterable {
  case table, ndjson

  /// A step of a change as one line.
  func line(_ step: ListStep, of change: TableChange<Record>) -> String {
    switch self {
    case .table:
      let line = TerminalText.defused(Self.text(step, of: change))
      return Terminal.width.map { TerminalText.truncated(line, to: $0) } ?? line
    case .ndjson: return Self.object(step, of: change)
    }
  }

  private static func object(_ step: ListStep, of change: TableChange<Record>) -> String {
    func fields(_ row: Int) -> String { JSONText.value(.dict(change.after[row].record.fields)) }
    return switch step {
    case .delete(let id, let row): "{\"kind\": \"delete\", \"id\": \(id), \"row\": \(row)}"
    case .insert(let id, let row):
      "{\"kind\": \"insert\", \"id\": \(id), \"row\": \(row), \"fields\": \(fields(row))}"
    case .move(let id, let oldRow, let row):
      "{\"kind\": \"move\", \"id\": \(id), \"row\": \(row), \"from\": \(oldRow)}"
    case .update(let id, let row):
      "{\"kind\": \"update\", \"id\": \(id), \"row\": \(row), \"fields\": \(fields(row))}"
    }
  }

  private static func text(_ step: ListStep, of change: TableChange<Record>) -> String {
    switch step {
    case .delete(let id, let row): "delete \(id) from row \(row)"
    case .insert(let id, let row):
      "insert \(id) at row \(row): \(news(in: change.after[row].record, since: Record()))"
    case .move(let id, let oldRow, let row): "move \(id) from row \(oldRow) to \(row)"
    case .update(let id, let row):
      "update \(id) at row \(row): "
        + news(in: change.after[row].record, since: change.before[id: id]?.record ?? Record())
    }
  }

  /// The fields that are new or others, and the names of those that are gone.
  private static func news(in record: Record, since before: Record) -> String {
    let new = record.fields.filter { before[$0.key] != $0.value }.map { "\($0.key)=\($0.value.cell)" }
    let gone = before.fields.filter { record[$0.key] == nil }.map { "-\($0.key)" }
    return (new + gone).joined(separator: ", ")
  }
}
