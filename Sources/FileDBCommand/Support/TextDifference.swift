import FileDB
import FileDBExchange

/// A field that differs between two records. A value is `nil` if the record does not have the field.
struct FieldDifference {
  let name: String
  let old: PlistValue?
  let new: PlistValue?

  /// One of the two values, for people. It includes the type if the types differ, because 1 and "1" look the same.
  func text(of value: PlistValue) -> String {
    guard let old, let new, FieldType(of: old) != FieldType(of: new) else { return value.cell }
    return "\(value.cell) (\(FieldType(of: value)))"
  }

  /// Sorted by the UTF-8 bytes of the fields' names.
  static func all(from old: Fields, to new: Fields) -> [FieldDifference] {
    var names = old.dictionary
    for field in new.dictionary { names[field.key] = field.value }
    return names.keys.filter { old[$0] != new[$0] }.map {
      FieldDifference(name: $0, old: old[$0], new: new[$0])
    }
  }
}

extension TableChange<Fields> {
  /// The fields of a record that was updated.
  func fields(of update: ListSteps.Passage) -> [FieldDifference] {
    FieldDifference.all(from: before[update.oldIndex].fields, to: after[update.newIndex].fields)
  }

  var title: String { after.exists ? after.table : before.table }
}

/// The differences of two tables, as lines for people.
struct TextDifference {
  private let change: TableChange<Fields>

  init(_ change: TableChange<Fields>) { self.change = change }

  func print() {
    Terminal.printStyled(Terminal.bold(TerminalText.defused(heading)))
    for step in change.steps.deletions {
      show("- record \(step.id), index \(step.index)", as: .removed)
      show(FieldDifference.all(from: change.before[step.index].fields, to: Fields()))
    }
    for step in change.steps.insertions {
      show("+ record \(step.id), index \(step.index)", as: .added)
      show(FieldDifference.all(from: Fields(), to: change.after[step.index].fields))
    }
    for step in change.steps.moves {
      show("> record \(step.id), index \(step.oldIndex) to \(step.newIndex)", as: .changed)
    }
    for step in change.steps.updates {
      show("~ record \(step.id), index \(step.newIndex)", as: .changed)
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
      let (old, new) = (field.old.map(field.text), field.new.map(field.text))
      let name = TerminalText.defused(field.name)
      if let old { show("    - \(name): ", old, besides: new, as: .removed) }
      if let new { show("    + \(name): ", new, besides: old, as: .added) }
    }
  }

  /// Prints one side of a field. If the other side has a part in common with it, marks what only this side has.
  private func show(_ name: String, _ text: String, besides other: String?, as color: Terminal.Color) {
    let start = other.map { zip(text, $0).prefix { $0 == $1 }.count } ?? 0
    let (rest, others) = (text.dropFirst(start), other?.dropFirst(start) ?? "")
    let end = zip(rest.reversed(), others.reversed()).prefix { $0 == $1 }.count
    let own = String(rest.dropLast(end))
    let shown =
      start + end == 0
      ? Terminal.colored(text, color)
      : Terminal.colored(String(text.prefix(start)), color) + Terminal.marked(own, color)
        + Terminal.colored(String(rest.suffix(end)), color)
    Terminal.printStyled(Terminal.bold(name) + shown)
  }

  private func show(_ line: String, as color: Terminal.Color) {
    Terminal.printStyled(Terminal.colored(TerminalText.defused(line), color))
  }
}
