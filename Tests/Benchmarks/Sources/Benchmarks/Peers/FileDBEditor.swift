import FileDB

final class FileDBEditor: AsyncEditor {
  private let table: RecordTable<Entry>

  init(_ table: RecordTable<Entry>) { self.table = table }

  func commit(_ edits: [Edit], _ log: EditLog) throws {
    try log.run(edits) { edit in try table.store.write { tx in try FileDBEditor.perform(edit, &tx) } }
  }

  func transact(_ edits: [Edit], _ log: EditLog) throws {
    try table.store.write { tx in try log.run(edits) { edit in try FileDBEditor.perform(edit, &tx) } }
  }

  func commit(_ edits: [Edit]) async throws -> [Int] {
    var ids: [Int] = []
    for edit in edits {
      ids.append(try await table.store.write { tx in try FileDBEditor.perform(edit, &tx) })
    }
    return ids
  }

  private static func perform(_ edit: Edit, _ tx: inout StoreTransaction) throws -> Int {
    switch edit {
    case .add(let entry, let place):
      return Int(try tx[.sample].add(entry, at: position(place)).rawValue)
    case .move(let id, let other):
      try tx[.sample].move(recordID(id), to: .after(recordID(other)))
      return id
    case .update(let id, let amount):
      try tx[.sample].update(recordID(id)) { $0.amount = amount }
      return id
    case .delete(let id):
      try tx[.sample].delete(recordID(id))
      return id
    }
  }

  private static func recordID(_ id: Int) -> RecordID<Entry> { RecordID(integerLiteral: Int64(id)) }

  private static func position(_ place: Place) -> Position<Entry> {
    switch place {
    case .top: .top
    case .bottom: .bottom
    case .after(let id): .after(recordID(id))
    }
  }

  func settle() throws { try table.store.checkpoint() }
  func count() throws -> Int { try table.count }
  func entry(_ id: Int) throws -> Entry? { try table.lastSnapshot[id: FileDBEditor.recordID(id)]?.value }

  func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
    let rows = table.lastSnapshot
    guard let row = rows.index(of: FileDBEditor.recordID(id)) else { throw WrongResult("no record \(id)") }
    return (
      row > 0 ? Int(rows[row - 1].id.rawValue) : nil,
      row < rows.count - 1 ? Int(rows[row + 1].id.rawValue) : nil
    )
  }
}
