import ArgumentParser
import FileDB
import FileDBExchange

enum DiffFormat: String, ExpressibleByArgument, CaseIterable {
  /// For people; may change.
  case text
  case json
}

/// A field that differs between two records; `nil` for no such field.
struct FieldDifference {
  let name: String
  let old: PlistValue?
  let new: PlistValue?

  /// One of the two values for people; with its type where that is another, for 1 and "1" look alike.
  func text(of value: PlistValue) -> String {
    guard let old, let new, old.typeName != new.typeName else { return "\(name): \(value.cell)" }
    return "\(name): \(value.cell) (\(value.typeName))"
  }

  /// In the order of the fields' UTF-8 bytes.
  static func all(from old: Record, to new: Record) -> [FieldDifference] {
    var names = old.fields
    for field in new.fields { names[field.key] = field.value }
    return names.keys.filter { old[$0] != new[$0] }.map {
      FieldDifference(name: $0, old: old[$0], new: new[$0])
    }
  }
}

extension TableChange<Record> {
  /// The fields of a record that was updated.
  func fields(of update: ListSteps.Passage) -> [FieldDifference] {
    FieldDifference.all(from: before[update.oldRow].record, to: after[update.newRow].record)
  }

  fileprivate var title: String { after.exists ? after.table : before.table }
}

/// The difference of two tables as lines for people.
struct TextDifference {
  private let change: TableChange<Record>

  init(_ change: TableChange<Record>) { self.change = change }

  func print() {
    Terminal.printStyled(Terminal.bold(TerminalText.defused(heading)))
    for step in change.steps.deletions {
      show("- record \(step.id), row \(step.row)", as: .removed)
      show(FieldDifference.all(from: change.before[step.row].record, to: Record()))
    }
    for step in change.steps.insertions {
      show("+ record \(step.id), row \(step.row)", as: .added)
      show(FieldDifference.all(from: Record(), to: change.after[step.row].record))
    }
    for step in change.steps.moves {
      show("> record \(step.id), row \(step.oldRow) to \(step.newRow)", as: .changed)
    }
    for step in change.steps.updates {
      show("~ record \(step.id), row \(step.newRow)", as: .changed)
      show(change.fields(of: step))
    }
  }

  private var heading: String {
    switch (change.before.exists, change.after.exists) {
    case (true, false): "\(change.title): only in A"
    case (false, true): "\(change.title): only in B"
    default:
      change.before.table == change.after.table
        ? change.title : "\(change.before.table) → \(change.after.table)"
    }
  }

  private func show(_ fields: [FieldDifference]) {
    for field in fields {
      if let old = field.old { show("    - \(field.text(of: old))", as: .removed) }
      if let new = field.new { show("    + \(field.text(of: new))", as: .added) }
    }
  }

  private func show(_ line: String, as color: Terminal.Color) {
    Terminal.printStyled(Terminal.colored(TerminalText.defused(line), color))
  }
}

/// The difference of tables as JSON.
enum JSONDifference {
  static func text(_ changes: [TableChange<Record>]) -> String {
    "{\"tables\": \(array(changes.map(object), separator: ",\n  "))}"
  }

  private static func object(_ change: TableChange<Record>) -> String {
    let steps = change.steps
    var parts = ["\"table\": \(JSONText.quoted(change.title))"]
    if change.before.exists != change.after.exists {
      parts.append("\"only\": \(change.before.exists ? "\"A\"" : "\"B\"")")
    }
    let removed = steps.deletions.map { entry($0.id, $0.row, change.before[$0.row].record) }
    let added = steps.insertions.map { entry($0.id, $0.row, change.after[$0.row].record) }
    let moved = steps.moves.map { "{\"id\": \($0.id), \"row\": \($0.newRow), \"from\": \($0.oldRow)}" }
    let changed = steps.updates.map { step in
      "{\"id\": \(step.id), \"row\": \(step.newRow), \"fields\": \(fields(change.fields(of: step)))}"
    }
    for (name, entries) in [("removed", removed), ("added", added), ("moved", moved), ("changed", changed)] {
      parts.append("\"\(name)\": \(array(entries))")
    }
    return "{" + parts.joined(separator: ", ") + "}"
  }

  private static func entry(_ id: RecordID, _ row: Int, _ record: Record) -> String {
    "{\"id\": \(id), \"row\": \(row), \"fields\": \(JSONText.value(.dict(record.fields)))}"
  }

  private static func fields(_ fields: [FieldDifference]) -> String {
    let entries = fields.map { field in
      let values = [("old", field.old), ("new", field.new)].compactMap { side, value in
        value.map { "\"\(side)\": \(JSONText.value($0))" }
      }
      return "\(JSONText.quoted(field.name)): {\(values.joined(separator: ", "))}"
    }
    return "{\(entries.joined(separator: ", "))}"
  }

  private static func array(_ elements: [String], separator: String = ", ") -> String {
    "[\(elements.joined(separator: separator))]"
  }
}
