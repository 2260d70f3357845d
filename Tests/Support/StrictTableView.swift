import FileDB

/// A table view that shows ids and fields, and refuses a batch of updates for all that makes `UITableView` throw.
package struct StrictTableView: Equatable {
  package struct Refusal: Error, CustomStringConvertible {
    package let description: String
  }

  /// What each visible cell shows.
  package private(set) var ids: [RecordID<Fields>] = []
  private var contents: [Fields] = []

  package init() {}

  /// Shows a change as its documentation says: the batch, and then the rows whose fields are others.
  package mutating func show(_ change: TableChange<Fields>) throws {
    try performBatchUpdates(change.steps, after: change.after)
    try reconfigure(change.steps.updates.map(\.newIndex), from: change.after)
  }

  private mutating func performBatchUpdates(
    _ steps: ListSteps, after: TableSnapshot<Fields>
  ) throws {
    let (deleted, inserted) = (steps.deletions.map(\.index), steps.insertions.map(\.index))
    let (sources, targets) = (steps.moves.map(\.oldIndex), steps.moves.map(\.newIndex))
    try check(deleted + sources, of: ids.count, "deleted or moved")
    try check(inserted + targets, of: after.count, "inserted or moved to")
    guard ids.count - deleted.count + inserted.count == after.count else {
      throw Refusal(
        description:
          "\(ids.count) rows before, \(deleted) deleted, \(inserted) inserted, and \(after.count) after")
    }
    let leaving = Set(deleted + sources)
    var staying = ids.indices.filter { !leaving.contains($0) }[...]
    let moved = Dictionary(uniqueKeysWithValues: zip(targets, sources))
    let isNew = Set(inserted)
    let former = (ids: ids, contents: contents)
    (ids, contents) = ([], [])
    for row in after.indices {
      // A view asks for the contents of inserted rows alone.
      if let oldIndex = isNew.contains(row) ? nil : moved[row] ?? staying.popFirst() {
        ids.append(former.ids[oldIndex])
        contents.append(former.contents[oldIndex])
      } else {
        ids.append(after[row].id)
        contents.append(after[row].fields)
      }
    }
  }

  private func check(_ rows: [Int], of count: Int, _ what: String) throws {
    if let row = rows.first(where: { !(0..<count).contains($0) }) {
      throw Refusal(description: "row \(row) is \(what), of \(count) rows")
    }
    if Set(rows).count != rows.count { throw Refusal(description: "a row is \(what) twice: \(rows)") }
  }

  private mutating func reconfigure(_ rows: [Int], from after: TableSnapshot<Fields>) throws {
    try check(rows, of: ids.count, "updated")
    for row in rows { contents[row] = after[row].fields }
  }

  /// Whether it shows exactly these rows.
  package func shows(_ rows: TableSnapshot<Fields>) -> Bool {
    ids == rows.ids && contents == rows.map(\.fields)
  }
}
