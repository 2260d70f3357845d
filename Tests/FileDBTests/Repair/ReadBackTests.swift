import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A disk that does not keep what a repair writes: the repair finds out before it replaces anything.
@Suite struct ReadBackTests {
  private static let place = URL(fileURLWithPath: "/home/store")
  private static let table = "/home/store/t.plist"
  private static let journal = "/home/store/.filedb/journal"

  /// A store whose table has one commit in the file and one in the journal.
  private func store() throws -> MemoryDisk {
    let memory = MemoryDisk(.emptyHome)
    let store = try RecordStore(at: Self.place, disk: memory, options: StoreOptions(checkpoints: .manual))
    try store.table("t").add(["text": "in the file"])
    try store.checkpoint()
    try store.table("u").add(["text": "in the journal"])
    return memory
  }

  private func damage(_ path: String, on memory: MemoryDisk) throws {
    var bytes = try memory.read(path).bytes
    for place in 300..<310 { bytes[place] = UInt8(ascii: "?") }
    _ = try memory.replace(path, with: bytes)
  }

  /// Loses the end of each draft in `folder` right before it is read.
  private func careless(_ memory: MemoryDisk, in folder: String) -> FaultyDisk {
    FaultyDisk(over: memory) { _, verb in
      guard verb == .read, let names = try? memory.list(folder) else { return }
      for name in names where name.hasSuffix(".filedb-draft") {
        guard let bytes = try? memory.read("\(folder)/\(name)").bytes else { continue }
        try? memory.remove("\(folder)/\(name)")
        try? memory.create("\(folder)/\(name)", as: .usual).append(Array(bytes.prefix(100)))
      }
    }
  }

  @Test func damagedTableStaysAsItIs() throws {
    let memory = try store()
    try damage(Self.table, on: memory)
    let damaged = try memory.read(Self.table).bytes
    let disk = careless(memory, in: Self.place.path)
    let store = try RecordStore(at: Self.place, disk: disk, options: StoreOptions(checkpoints: .manual))
    #expect(storeError { try store.repair("t") }?.code == .inputOutput)
    #expect(try memory.read(Self.table).bytes == damaged)
    try RecordStore(at: Self.place, disk: memory, options: StoreOptions(checkpoints: .manual)).repair("t")
    #expect(try memory.read(Self.table).bytes != damaged)
  }

  @Test func damagedJournalStaysAsItIs() throws {
    let memory = try store()
    try damage(Self.journal, on: memory)
    let damaged = try memory.read(Self.journal).bytes
    let disk = careless(memory, in: Self.place.appendingPathComponent(".filedb").path)
    let store = try RecordStore(at: Self.place, disk: disk, options: StoreOptions(checkpoints: .manual))
    #expect(storeError { try store.repairJournal() }?.code == .inputOutput)
    #expect(try memory.read(Self.journal).bytes == damaged)
    let sound = try RecordStore(at: Self.place, disk: memory, options: StoreOptions(checkpoints: .manual))
    #expect(try sound.repairJournal() != nil)
    try sound.checkInvariants()
  }
}
