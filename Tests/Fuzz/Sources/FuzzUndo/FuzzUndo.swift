import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a store can stand on a disk in memory that already holds an undo log.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

private let options = StoreOptions(
  limits: PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 20), checkpoints: .manual)
private let folder = URL(fileURLWithPath: "/store")

// An input is a file of a step, or tells what is to be changed in a sound one.
@main enum FuzzUndo {
  static func main() { runFuzzer(test) }
}

/// A store with a step that has something of each kind.
private let sample: (disk: DiskImage, token: CommitToken, changes: PlistValue, step: PlistValue) = {
  do {
    let disk = MemoryDisk()
    let store = try RecordStore(at: folder, disk: disk, options: options)
    let table = try store.table("t")
    try table.add(contentsOf: (1...9).map { ["n": .integer($0), "s": "a"] })
    try store.undoLog.write { tx in try tx["u"].add(["n": 1]) }
    try store.undoLog.write { tx in
      try tx["t"].delete([2, 5])
      try tx["t"].move(7, to: .top)
      try tx["t"].update(3) { ($0["n"], $0["s"]) = ("b", nil) }
      try tx["t"].add(["n": 10], at: .index(2))
      try tx["t"].declare(TableSchema(fields: [FieldSchema("n", isUnique: true)]))
      try tx["u"].add(["n": 2])
      try tx["v"].add(contentsOf: [["n": 3], ["n": 4]])
      try tx["v"].sort(by: [.descending("n")])
    }
    guard let token = try store.fileLog.undoHead, let names = try store.folder.undoFiles()[token] else {
      fail("there is no undo log")
    }
    func plist(_ kind: StoreFolder.UndoFile) throws -> PlistValue {
      try PlistParser.parse(store.folder.readUndo(kind, among: names) ?? [])
    }
    return (disk.image, token, try plist(.changes), try plist(.step))
  } catch {
    fail("\(error)")
  }
}()

private func test(_ bytes: [UInt8]) -> Bool {
  do {
    var choices = Choices(bytes)
    let kind = choices.next(below: 4) == 0 ? StoreFolder.UndoFile.step : .changes
    let isFile = bytes.first == UInt8(ascii: "<")
    let sound = kind == .step ? sample.step : sample.changes
    let store = try store(kind, isFile ? bytes : sound.changed(by: bytes).document)
    try check(store)
  } catch {
    fail("\(error)")
  }
  return true
}

/// The sample with another file of the step.
private func store(_ kind: StoreFolder.UndoFile, _ bytes: [UInt8]) throws -> RecordStore {
  let store = try RecordStore(at: folder, disk: MemoryDisk(sample.disk), options: options)
  let files = try store.folder
  let names = try files.undoFiles()[sample.token] ?? []
  files.removeUndoFiles(names.filter { $0.hasSuffix(".\(kind.rawValue)") })
  try files.writeUndo(kind, [bytes], of: sample.token)
  return store
}

/// A step is refused, or is carried out on sound tables and can be taken back.
private func check(_ store: RecordStore) throws {
  _ = try store.undoLog.contents()
  let before = try tables(of: store)
  do { _ = try store.undoLog.dryRun(.undo, count: 2) } catch is StoreError {}
  try checkIsSame(before, tables(of: store), "nothing was done")
  do {
    guard try store.undoLog.undo() != nil else { return }
  } catch let error as StoreError {
    if error.code == .damagedJournal { throw error }
    try checkIsSame(before, tables(of: store), "\(error)")
    return
  }
  let reopened = try RecordStore(at: folder, disk: store.folder.disk.disk, options: options)
  try checkIsSame(tables(of: store), tables(of: reopened), "on the disk")
  _ = try store.undoLog.redo()
  try checkIsSame(before, tables(of: store), "redone")
}

private func tables(of store: RecordStore) throws -> [TableSnapshot<Fields>] {
  let tables = try store.tableNames.map { try store.table($0).snapshot() }
  for table in tables {
    let ids = table.ids
    if Set(ids).count != ids.count { fail("\(table.table): ids \(ids)") }
    for (index, id) in ids.enumerated() where table.index(of: id) != index || id.rawValue > table.counter {
      fail("\(table.table): id \(id) does not lead to index \(index)")
    }
  }
  return tables
}

private func checkIsSame(
  _ left: [TableSnapshot<Fields>], _ right: [TableSnapshot<Fields>], _ what: String
) throws {
  let isSame =
    left.map(\.table) == right.map(\.table)
    && zip(left, right).allSatisfy { left, right in
      left.elementsEqual(right) { $0.id == $1.id && $0.fields == $1.fields }
        && left.state.foreignKeys == right.state.foreignKeys
    }
  if !isSame { fail("\(what): \(left.map(Array.init))\nthen: \(right.map(Array.init))") }
}
