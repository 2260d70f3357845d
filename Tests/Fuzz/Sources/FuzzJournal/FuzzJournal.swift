import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a store can stand on a disk in memory that already holds a journal.
@testable import FileDB
@testable import FileDBStorage

private let options = StoreOptions(
  limits: PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 20), checkpoints: .manual)
private let folder = URL(fileURLWithPath: "/store")
private let journal = "/store/.filedb/journal"

// An input is the payload of a commit, or tells what is to be changed in a sound journal.
@main enum FuzzJournal {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  var choices = Choices(bytes)
  do {
    if choices.next(below: 2) == 0 {
      try checkPayload(bytes)
    } else {
      try checkDamage(bytes)
    }
  } catch {
    fail("\(error)")
  }
  return true
}

/// A store whose files hold two records, with four commits in the journal.
private let sample: (disk: MemoryDisk, bytes: [UInt8]) = {
  do {
    let disk = MemoryDisk()
    let store = try RecordStore(at: folder, disk: disk, options: options)
    try store.table("t").add(contentsOf: [["n": 1], ["n": 2]])
    try store.checkpoint()
    try store.table("t").add(["n": 3], at: .top)
    try store.write { tx in
      try tx.set(["n": 4], of: 1, in: .records("t"))
      try tx.add(["n": 5], to: .records("u"))
    }
    try store.table("t").move(2, to: .top)
    try store.table("u").delete(1)
    return (disk, try disk.read(journal).bytes)
  } catch {
    fail("\(error)")
  }
}()

/// The sample with another journal.
private func store(_ bytes: [UInt8]) throws -> RecordStore {
  let disk = sample.disk.surviving()
  _ = try disk.replace(journal, with: bytes)
  return try RecordStore(at: folder, disk: disk, options: options)
}

/// A commit that is as it was written and means anything: it is refused or carried out, and what a store has then, a fresh
/// one has as well.
private func checkPayload(_ payload: [UInt8]) throws {
  guard (try? LoggedCommit(payload: payload, depth: options.limits.depth)) != nil else { return }
  let end = JournalScan(sample.bytes, at: 0, after: nil).end
  let frame = JournalFrame(kind: .commit, sequence: 6, synced: 5, payload: payload).bytes
  try checkStore(sample.bytes[..<end] + frame)
}

/// Bytes of a sound journal are changed, or it is cut off: it is read as it was, or up to the commit that is hit, or refused
/// and mended.
private func checkDamage(_ changes: [UInt8]) throws {
  var bytes = sample.bytes
  for start in stride(from: 0, to: changes.count - 3, by: 4) {
    let place = (Int(changes[start]) << 8 | Int(changes[start + 1])) % bytes.count
    switch changes[start + 2] % 8 {
    case 0: bytes.replaceSubrange(place..., with: repeatElement(0, count: bytes.count - place))
    case 1: bytes = Array(bytes[...place])
    case 2: bytes[place] = changes[start + 3]
    default: bytes[place] ^= changes[start + 3]
    }
  }
  try checkStore(bytes)
}

private func checkStore(_ bytes: [UInt8]) throws {
  let store = try store(bytes)
  if try store.checkJournal() != nil {
    _ = try? store.repairJournal()
    // Of another format, or with commits that fit no table: then it stays as it is.
    guard try store.checkJournal() == nil else { return }
  }
  for name in try store.tableNames where (try? store.check(name))?.isEmpty == true {
    let table = try store.table(name)
    guard (try? table.add(["n": 9])) != nil else { continue }
    let fresh = try RecordStore(at: folder, disk: store.disk, options: options).table(name)
    if !table.snapshot.elementsEqual(fresh.snapshot, by: { $0.id == $1.id && $0.record == $1.record }) {
      fail("\(name): in memory \(Array(table.snapshot)), on the disk \(Array(fresh.snapshot))")
    }
  }
}
