import FileDB

struct Note: Codable, Sendable {
  var text: String
  /// The note that this one is below; `nil` at the top level.
  var parent: RecordID<Note>?
}

extension TableName<Note> { static var notes: Self { "notes" } }

/// The notes of a list as a tree. Notes below the same note are in the table's order.
struct Outline {
  struct BelowItself: Error, CustomStringConvertible {
    var description: String { "a note cannot be below itself" }
  }

  private let records: [DecodedRecord<Note>]
  private let children: [RecordID<Note>?: [DecodedRecord<Note>]]

  init(_ records: [DecodedRecord<Note>]) {
    self.records = records
    let ids = Set(records.map(\.id))
    // If the filter hides a note's parent, or another program deleted it, the note is at the top level.
    children = Dictionary(grouping: records) { record in
      record.value.parent.flatMap { ids.contains($0) ? $0 : nil }
    }
  }

  var lines: [String] {
    // Another program may have put notes below each other in a circle. Adding `records` shows those, too.
    branches(of: children[nil, default: []] + records).map { record, depth in
      String(repeating: "  ", count: depth) + "\(record.id) \(record.value.text)"
    }
  }

  /// The ids of a note and of all notes below it.
  func branch(of id: RecordID<Note>) -> [RecordID<Note>] {
    [id] + branches(of: children[id, default: []]).map(\.record.id)
  }

  /// These notes and all notes below them, each once, with their depth.
  private func branches(of roots: [DecodedRecord<Note>]) -> [(record: DecodedRecord<Note>, depth: Int)] {
    var found: [(record: DecodedRecord<Note>, depth: Int)] = []
    var seen: Set<RecordID<Note>> = []
    func visit(_ record: DecodedRecord<Note>, depth: Int) {
      guard seen.insert(record.id).inserted else { return }
      found.append((record, depth))
      for child in children[record.id, default: []] { visit(child, depth: depth + 1) }
    }
    for root in roots { visit(root, depth: 0) }
    return found
  }
}
