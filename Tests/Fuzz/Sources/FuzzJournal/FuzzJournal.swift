import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a store can stand on a disk in memory that already holds a journal.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

private let options = StoreOptions(
  limits: PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 20), checkpoints: .manual)
private let folder = URL(fileURLWithPath: "/store")
private let journal = "/store/.filedb/journal"

// An input is the payload of a commit, a whole journal, or tells what is to be changed in a sound one.
@main enum FuzzJournal {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  var choices = Choices(bytes)
  do {
    switch choices.next(below: 3) {
    case 0: try checkPayload(bytes)
    case 1: try checkStore(bytes)
    default: try checkDamage(bytes)
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
      try tx["t"].set(["n": 4], of: 1)
      try tx["u"].add(["n": 5])
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

/// A commit that is as it was written and means anything: it is refused or carried out, and what a store has then, a
/// fresh one has as well.
private func checkPayload(_ payload: [UInt8]) throws {
  let depth = options.limits.depth
  guard let commit = try? JournalCommit(payload: payload[...], depth: depth, records: nil) else { return }
  let written = commit.payload()
  if try JournalCommit(payload: written[...], depth: depth, records: nil).payload() != written {
    fail("a commit that was written is read as another one")
  }
  let scan = JournalScan(sample.bytes, at: 0, after: nil)
  let frame = JournalFrame(kind: .commit, sequence: 6, synced: 5, payload: payload[...]).bytes(
    salt: scan.salt)
  try checkStore(sample.bytes[..<scan.end] + frame)
}

/// Bytes of a sound journal are changed or moved, or it is cut off: it is read as it was, or up to the commit that is
/// hit, or refused and repaired.
private func checkDamage(_ changes: [UInt8]) throws {
  var bytes = sample.bytes
  let end = JournalScan(bytes, at: 0, after: nil).end
  for start in stride(from: 0, to: changes.count - 3, by: 4) {
    let place = (Int(changes[start]) << 8 | Int(changes[start + 1])) % end
    guard place < bytes.count else { break }
    let value = changes[start + 3]
    switch changes[start + 2] % 8 {
    case 0: bytes.replaceSubrange(place..., with: repeatElement(0, count: bytes.count - place))
    case 1: bytes = Array(bytes[...place])
    case 2: bytes[place] = value
    case 3: copySectors(from: place, to: Int(value) * 64 % end, in: &bytes)
    default: bytes[place] ^= value
    }
  }
  try checkSalvage(bytes)
  try checkStore(bytes)
}

/// A frame's length of bytes stands where others were.
private func copySectors(from place: Int, to target: Int, in bytes: inout [UInt8]) {
  let source = place & ~63
  guard max(source, target) + 512 <= bytes.count else { return }
  bytes.replaceSubrange(target..<target + 512, with: Array(bytes[source..<source + 512]))
}

/// What is salvaged was in the journal, in the same order. Where a single byte of a frame is wrong, the frame is there.
private func checkSalvage(_ bytes: [UInt8]) throws {
  let sound = JournalScan(sample.bytes, at: 0, after: nil).frames
  let wrongCount = sound.map { countWrong($0, bytes) }.max() ?? 0
  let salvaged: [JournalFrame]
  do { salvaged = try JournalSalvage(bytes).frames } catch {
    guard wrongCount > 1 else { throw error }
    return
  }
  let numbers = salvaged.filter { $0.kind == .commit }.map(\.sequence)
  if zip(numbers, numbers.dropFirst()).contains(where: { $0 >= $1 }) { fail("salvaged: \(numbers)") }
  // More than one wrong byte may look like another one, by chance.
  guard wrongCount < 2 else { return }
  for frame in salvaged where !sound.contains(where: { $0.frame == frame }) { fail("from nowhere: \(frame)") }
  guard bytes.count == sample.bytes.count else { return }
  // With a zero in it, a frame may look as if a crash had interrupted its write. Then the journal may end there.
  for (frame, _) in sound.prefix(while: { !hasZero($0, bytes) }) where !salvaged.contains(frame) {
    fail("lost: \(frame)")
  }
}

/// How many bytes of a frame are not as they were.
private func countWrong(_ sound: (frame: JournalFrame, offset: Int), _ bytes: [UInt8]) -> Int {
  places(sound).count { $0 >= bytes.count || bytes[$0] != sample.bytes[$0] }
}

private func hasZero(_ sound: (frame: JournalFrame, offset: Int), _ bytes: [UInt8]) -> Bool {
  places(sound).contains { bytes[$0] == 0 }
}

/// Where a frame's line and payload are in the sample.
private func places(_ sound: (frame: JournalFrame, offset: Int)) -> Range<Int> {
  sound.offset..<sound.offset + JournalFrame.Header.count + sound.frame.payload.count
}

/// A store that opens, if need be after a repair, holds what every store holds and takes writes.
private func checkStore(_ bytes: [UInt8]) throws {
  let store = try store(bytes)
  if try store.checkJournal() != nil {
    _ = try? store.repairJournal()
    // Of another format, or with commits that fit no table: then it stays as it is.
    guard try store.checkJournal() == nil else { return }
  }
  for name in try store.tableNames where (try? store.check(name))?.isEmpty == true {
    try checkTable(store.table(name))
  }
}

private func checkTable(_ table: RecordTable<Fields>) throws {
  let id: RecordID<Fields>
  do { id = try table.add(["n": 9], at: .top) } catch let error as StoreError {
    // A commit may have given the highest id there is.
    guard error.code == .counterExhausted else { throw error }
    return
  }
  let here = table.lastSnapshot
  let there = try RecordStore(at: folder, disk: table.store.folder.disk.disk, options: options).table(
    here.table
  ).lastSnapshot
  if here.counter != there.counter
    || !here.elementsEqual(there, by: { $0.id == $1.id && $0.fields == $1.fields })
  {
    fail("\(here.table): in memory \(Array(here)), on the disk \(Array(there))")
  }
  if here.ids.first != id || Set(here.ids).count != here.count { fail("\(here.table): ids \(here.ids)") }
  for (index, id) in here.ids.enumerated() where here.index(of: id) != index || id.rawValue > here.counter {
    fail("\(here.table): id \(id) does not lead to index \(index)")
  }
}
