import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a store can stand on a disk in memory that already holds conflicts.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

private let folder = URL(fileURLWithPath: "/store")
private let file = "/store/.filedb/conflicts/t.plist"

// An input is a file of conflicts, or tells what is to be changed in a sound one.
@main enum FuzzConflicts {
  static func main() { runFuzzer(test) }
}

private let sample: (disk: DiskImage, conflicts: PlistValue) = {
  do {
    let disk = MemoryDisk()
    let store = try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
    let table = try store.table("t")
    try table.add(contentsOf: (1...5).map { ["n": .integer($0)] })
    let ids = try table.snapshot().state.records.ids
    let kinds: [(AnyRecordID?, MergeConflict.Kind)] = [
      (AnyRecordID(rawValue: 1), .field("n", base: nil, ours: 1, theirs: "b")),
      (AnyRecordID(rawValue: 2), .deletedByOurs(base: ["n": 0], theirs: ["n": 2])),
      (AnyRecordID(rawValue: 3), .deletedByTheirs(base: ["n": 0], ours: ["n": 3])),
      (nil, .field("schema.n.type", base: nil, ours: "integer", theirs: "float")),
      (nil, .order(ours: ids, theirs: [])),
    ]
    let conflicts = kinds.map { MergeConflict(record: $0.0, kind: $0.1) }
    try store.keep(OpenConflicts(gitVersions: "a b c", conflicts: conflicts), of: "t")
    return (disk.image, try PlistParser.parse(disk.read(file).bytes))
  } catch {
    fail("\(error)")
  }
}()

private func test(_ bytes: [UInt8]) -> Bool {
  do {
    let disk = MemoryDisk(sample.disk)
    let isFile = bytes.first == UInt8(ascii: "<")
    let document = isFile ? bytes : sample.conflicts.changed(by: bytes).document
    _ = try disk.replace(file, with: document)
    let store = try RecordStore(at: folder, disk: disk, options: StoreOptions(checkpoints: .manual))
    guard let conflicts = try? store.openConflicts(of: "t") else { return true }
    // A few digits may name millions of ids, and to print these takes long.
    if conflicts.idCount > 10_000 { return true }
    try checkFixedPoint(conflicts, store, disk)
    try settle(conflicts, store)
  } catch {
    fail("\(error)")
  }
  return true
}

extension OpenConflicts {
  fileprivate var idCount: Int {
    conflicts.reduce(0) { count, conflict in
      if case .order(let ours, let theirs) = conflict.kind {
        count + ours.count + theirs.count
      } else {
        count
      }
    }
  }
}

/// Conflicts that are kept are the same when they are read again, and then are written alike.
private func checkFixedPoint(_ conflicts: OpenConflicts, _ store: RecordStore, _ disk: MemoryDisk) throws {
  try store.keep(conflicts, of: "t")
  let isNothing = conflicts.conflicts.isEmpty && conflicts.gitVersions == nil
  let written = try disk.status(file).map { _ in try disk.read(file).bytes }
  guard let written, let again = try store.openConflicts(of: "t") else {
    if !isNothing { fail("not read again: \(conflicts)") }
    return
  }
  if "\(again)" != "\(conflicts)" { fail("read: \(conflicts)\nread again: \(again)") }
  try store.keep(again, of: "t")
  if try disk.read(file).bytes != written { fail("written in another way: \(again)") }
}

/// As 'filedb conflicts take' does it: what is settled is no longer open.
private func settle(_ conflicts: OpenConflicts, _ store: RecordStore) throws {
  let table = try store.table("t")
  for conflict in conflicts.conflicts where conflict.isOpen(in: try table.snapshot()) {
    do {
      switch (conflict.settlement(taking: .theirs), conflict.record) {
      case (.set(let name, let value), let id?): try table.update(RecordID(id)) { $0[name] = value }
      case (.delete, let id?): try table.delete(RecordID(id))
      case (.order(let ids), _): try table.order(as: ids)
      default: continue
      }
    } catch is StoreError { continue }
    let ids = try table.snapshot().ids
    if Set(ids).count != ids.count { fail("ids \(ids)") }
  }
}
