import FileDB
import FileDBPlist

/// What happened to a table, as rows: a row for each step. Carried out one after another on the old list of records,
/// the steps give the new list.
enum ChangeRows {
  /// For the help of commands that print such rows.
  static let explanation = """
    In all formats but table, each step is a row. It has the table, the kind of the step (delete, move, insert or \
    update), the record's id and its index, counted from 0. A move also has the index it came from. "old" and "new" \
    have the values of the fields before and after the step, as far as they differ. If you carry out the steps one \
    after another on the old list of records, you get the new list.
    """

  static let columns = ["table", "kind", "id", "index", "from", "old", "new"].map { title in
    TextTable.Column(title: title, isNumeric: ["id", "index", "from"].contains(title))
  }

  static func rows(of change: TableChange<Fields>) -> [[PlistValue?]] {
    existence(of: change) + change.steps.sequence.map { row(of: $0, in: change) }
  }

  /// A row if the table itself was created or dropped.
  private static func existence(of change: TableChange<Fields>) -> [[PlistValue?]] {
    switch (change.before.exists, change.after.exists) {
    case (true, false): [[.string(change.title), "drop", nil, nil, nil, nil, nil]]
    case (false, true): [[.string(change.title), "create", nil, nil, nil, nil, nil]]
    default: []
    }
  }

  private static func row(of step: ListStep, in change: TableChange<Fields>) -> [PlistValue?] {
    func row(
      _ kind: PlistValue, _ id: AnyRecordID, _ index: Int, from: Int? = nil, _ fields: [FieldDifference] = []
    ) -> [PlistValue?] {
      [
        .string(change.title), kind, .integer(id.rawValue), .integer(Int64(index)),
        from.map { .integer(Int64($0)) }, values(fields, \.old), values(fields, \.new),
      ]
    }
    func before(_ id: AnyRecordID) -> Fields { change.before[id: RecordID(id)]?.fields ?? Fields() }
    return switch step {
    case .delete(let id, let index):
      row("delete", id, index, FieldDifference.all(from: before(id), to: Fields()))
    case .move(let id, let oldIndex, let index): row("move", id, index, from: oldIndex)
    case .insert(let id, let index):
      row("insert", id, index, FieldDifference.all(from: Fields(), to: change.after[index].fields))
    case .update(let id, let index):
      row("update", id, index, FieldDifference.all(from: before(id), to: change.after[index].fields))
    }
  }

  /// The values on one side; `nil` if there are none.
  private static func values(
    _ fields: [FieldDifference], _ side: KeyPath<FieldDifference, PlistValue?>
  ) -> PlistValue? {
    var values = PlistDictionary()
    for field in fields { values[field.name] = field[keyPath: side] }
    return values.isEmpty ? nil : .dict(values)
  }
}
