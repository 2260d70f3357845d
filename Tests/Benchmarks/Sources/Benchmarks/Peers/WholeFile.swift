import Foundation

/// Rows in a file that is read and written as a whole: what is the same for all who do it so.
///
/// The file is replaced by `Data.write(options: .atomic)`, as in an app. That does not wait for the disk, so that these
/// peers promise less than those they are compared with.
final class WholeFile {
  private let sample: Sample
  private let file: Result<URL, any Error>
  private let decode: (Data) throws -> [IdentifiedEntry]
  private let encode: ([IdentifiedEntry]) throws -> Data
  private lazy var editor = Result { WholeFileEditor(try read(), save: save) }
  private lazy var edited = Result { try EditedTable(editor.get(), records: sample.records) }

  init(
    _ sample: Sample, scratch: String, decode: @escaping (Data) throws -> [IdentifiedEntry],
    encode: @escaping ([IdentifiedEntry]) throws -> Data
  ) {
    self.sample = sample
    file = Result { try sample.scratch(scratch).appendingPathComponent("sample") }
    self.decode = decode
    self.encode = encode
  }

  /// Makes the file from the sample if it is not there yet.
  func makeOnce() throws {
    if FileManager.default.fileExists(atPath: try file.get().path) { return }
    try save(zip(1..., sample.entries).map { IdentifiedEntry(id: $0, entry: $1) })
  }

  func read() throws -> [IdentifiedEntry] { try decode(Data(contentsOf: file.get())) }

  private func save(_ rows: [IdentifiedEntry]) throws {
    try encode(rows).write(to: file.get(), options: .atomic)
  }

  func prepare(_ workload: Workload) throws -> Run? {
    try makeOnce()
    switch workload {
    case .open:
      return { [self] in
        try seconds(of: read, check: { try sample.checkOpening($0.count, $0.first?.entry.title) })
      }
    case .rows:
      return { [self] in try seconds(of: { try read().map(\.entry) }, check: sample.check) }
    case .edit: return try edited.get().prepare(workload)
    case .sort: return try sorting()
    case .checkpoint: return try writing()
    default: return nil
    }
  }

  private func writing() throws -> Run {
    let editor = try editor.get()
    return { [self] in
      try seconds(
        of: { try save(editor.rows) },
        check: { try expect(try read().count == sample.records, "the written table") })
    }
  }

  private func sorting() throws -> Run {
    let editor = try editor.get()
    var order = EntryOrder()
    return { [self] in
      order.isReversed.toggle()
      return try seconds(
        of: {
          editor.rows.sort { order.comesBefore($0.entry, $1.entry) }
          try save(editor.rows)
        }, check: { try order.check(editor.rows.map(\.entry), count: sample.records) })
    }
  }
}

/// The rows as an array, saved after each commit.
private final class WholeFileEditor: Editor {
  var rows: [IdentifiedEntry]
  private var counter: Int
  private let save: ([IdentifiedEntry]) throws -> Void

  init(_ rows: [IdentifiedEntry], save: @escaping ([IdentifiedEntry]) throws -> Void) {
    self.rows = rows
    counter = rows.map(\.id).max() ?? 0
    self.save = save
  }

  func commit(_ edits: [Edit], _ log: EditLog) throws {
    try log.run(edits) { edit in
      let id = try perform(edit)
      try save(rows)
      return id
    }
  }

  func transact(_ edits: [Edit], _ log: EditLog) throws {
    try log.run(edits, perform)
    try save(rows)
  }

  private func perform(_ edit: Edit) throws -> Int {
    switch edit {
    case .add(let entry, let place):
      counter += 1
      try insert(IdentifiedEntry(id: counter, entry: entry), place)
      return counter
    case .move(let id, let other):
      try insert(rows.remove(at: row(of: id)), .after(other))
      return id
    case .update(let id, let amount):
      rows[try row(of: id)].entry.amount = amount
      return id
    case .delete(let id):
      rows.remove(at: try row(of: id))
      return id
    }
  }

  private func insert(_ row: IdentifiedEntry, _ place: Place) throws {
    switch place {
    case .top: rows.insert(row, at: 0)
    case .bottom: rows.append(row)
    case .after(let id): rows.insert(row, at: try self.row(of: id) + 1)
    }
  }

  private func row(of id: Int) throws -> Int {
    guard let row = rows.firstIndex(where: { $0.id == id }) else { throw WrongResult("no record \(id)") }
    return row
  }

  func count() -> Int { rows.count }
  func entry(_ id: Int) -> Entry? { rows.first { $0.id == id }?.entry }

  func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
    let row = try row(of: id)
    return (row > 0 ? rows[row - 1].id : nil, row < rows.count - 1 ? rows[row + 1].id : nil)
  }
}
