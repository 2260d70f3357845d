import FileDB
import Foundation

/// What a writer says on standard output.
enum WriterLine: Codable {
  /// It is about to do this. Without this line nobody could tell what a commit that was cut off ought to have done.
  case plan(Commit)
  /// `write` has returned.
  case done(sequence: Int, ids: [GivenID])
  /// `write` has thrown an error that says that nothing of it is there.
  case undone(sequence: Int)
  /// It has opened the store anew and found this commit to be its last.
  case opened(sequence: Int)

  struct GivenID: Codable {
    var table: Int
    var key: Int
    var id: RecordID<WorkRow>
  }

  /// One system call, with nothing left in a buffer when the process is killed.
  func say() throws {
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(self) + Data("\n".utf8))
  }
}

/// Makes random commits until it is killed, saying before each what it will do, and after each that it is done.
struct Writer {
  let store: RecordStore
  let tables: [RecordTable<WorkRow>]
  let tablesPerCommit: Int
  private(set) var model: WriterModel
  private var random: Random

  /// Goes on where the last process of this name stopped.
  init(
    folder: URL, name: String, seed: UInt64, tablesPerCommit: Int, checkpoints: CheckpointPolicy = .automatic
  ) throws {
    store = try openStore(folder, checkpoints: checkpoints)
    self.tablesPerCommit = tablesPerCommit
    tables = try workTables.map(store.table)
    model = WriterModel(name: name, seenIn: try Sighting(of: store, tablesPerCommit: tablesPerCommit))
    random = Random(seed: seed)
  }

  /// Without it the store would grow faster than it can be checked.
  mutating func pause() throws {
    usleep(.random(in: 0..<2_000, using: &random))
    if random.once(in: 12) { try store.checkpoint() }
  }

  mutating func commit() throws {
    let commit = model.plan(tables: tablesPerCommit, using: &random)
    try WriterLine.plan(commit).say()
    let given = try store.write { tx in try carryOut(commit, in: &tx) }
    try WriterLine.done(sequence: commit.sequence, ids: given).say()
    model.apply(commit)
    for new in given { model.set(new.id, of: new.key, in: new.table) }
  }

  private func carryOut(_ commit: Commit, in tx: inout StoreTransaction) throws -> [WriterLine.GivenID] {
    var given: [WriterLine.GivenID] = []
    func id(_ key: Int, _ table: Int) throws -> RecordID<WorkRow> {
      let new = given.last { $0.key == key && $0.table == table }?.id
      guard let id = new ?? model.id(of: key, in: table) else { throw Fault("no id for \(key)") }
      return id
    }
    func position(_ place: Commit.Place, _ table: Int) throws -> Position<WorkRow> {
      switch place {
      case .top: .top
      case .bottom: .bottom
      case .before(let key): .before(try id(key, table))
      case .after(let key): .after(try id(key, table))
      }
    }
    for change in commit.changes {
      switch change {
      case .add(let table, let key, let length, let place):
        let row = WorkRow(writer: model.name, key: key, sequence: commit.sequence, length: length)
        let new = try tx[workTables[table]].add(row, at: position(place, table))
        given.append(WriterLine.GivenID(table: table, key: key, id: new))
      case .update(let table, let key, let length):
        let row = WorkRow(writer: model.name, key: key, sequence: commit.sequence, length: length)
        try tx[workTables[table]].update(id(key, table), to: row)
      case .delete(let table, let key):
        try tx[workTables[table]].delete(id(key, table))
      case .move(let table, let key, let place):
        try tx[workTables[table]].move(id(key, table), to: position(place, table))
      case .duplicate(let table, let key, let original, let place):
        let new = try tx[workTables[table]].duplicate(
          id(original, table), to: position(place, table))
        try tx[workTables[table]].update(new) { row in
          row = WorkRow(writer: row.writer, key: key, sequence: commit.sequence, length: row.length)
        }
        given.append(WriterLine.GivenID(table: table, key: key, id: new))
      }
    }
    return given
  }
}

/// Adds `count` plain records, each a commit of its own.
func addPlainRecords(_ count: Int, name: String, folder: URL) throws {
  let table = try openStore(folder).table(workTables[0])
  for key in 1...count {
    try table.add(WorkRow(writer: name, key: key, sequence: key, length: 20))
    try showProgress()
  }
}

/// The timeout is generous, for a busy machine: what must not happen is that a killed process keeps the lock.
func openStore(_ folder: URL, checkpoints: CheckpointPolicy = .automatic) throws -> RecordStore {
  try RecordStore(
    at: folder, options: StoreOptions(lockTimeout: .seconds(30), checkpoints: checkpoints))
}
