import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A journal has lost the commit that names the file for which a table's commits were made, and a checkpoint follows.
@Suite struct LostCommitTests {
  private static let file = "/store/a.plist"
  private static let journal = "/store/.filedb/journal"

  private static func open(_ disk: any Disk) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.keptJournal = 0  // Each checkpoint begins another journal.
    return try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  /// A table with a record in its file, which an editor changes while two commits wait; a checkpoint dies where `name`
  /// is to be given. Then the first commit rots.
  private static func damagedStore(renaming name: String) throws -> MemoryDisk {
    let memory = MemoryDisk()
    let store = try open(memory)
    try store.table("a").add(["text": "first"])
    try store.table("b").add(["text": "of another table"])
    try store.checkpoint()
    try store.table("a").add(["text": .string(String(repeating: "long ", count: 2_000))])
    try store.table("a").add(["text": "third"])
    let text = String(decoding: try memory.read(file).bytes, as: UTF8.self)
    _ = try memory.replace(file, with: Array(text.replacing("first", with: "edited").utf8))
    let failing = FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        [.rename, .exchange].contains(verb) && path == name ? .fail(errno: EIO) : nil
      })
    #expect(storeError { try open(failing).checkpoint() }?.errno == EIO)
    let frames = JournalScan(try memory.read(journal).bytes, at: 0, after: nil).frames
    let kinds = frames.map(\.frame.kind).filter { $0 != .written }
    try #require(kinds.suffix(3) == [.commit, .commit, .checkpoint])
    // More than one byte, because the checksum can correct one.
    let place = try #require(try memory.read(journal).bytes.firstRange(of: Array("long ".utf8))).lowerBound
    try memory.open(journal).write(Array("#!#!#!".utf8), at: place + 3_000)
    return memory
  }

  /// The table's file is the editor's, or the checkpoint's.
  @Test(arguments: [(file, ["edited", "third"]), (journal, ["edited", "long", "third"])])
  func commitsBehindALostOneAreKept(renaming: String, expected: [String]) throws {
    let memory = try Self.damagedStore(renaming: renaming)
    let damaged = try memory.read(Self.journal).bytes
    let store = try Self.open(memory)
    #expect(storeError { _ = try store.table("a") }?.code == .damagedJournal)
    #expect(try store.checkJournal()?.error.code == .damagedJournal)
    let plan = try #require(try store.journalRepairPlan())
    #expect(plan.lostCount == 1)
    #expect(plan.notes.contains { $0.hasPrefix("byte ") && $0.contains("commit") }, "\(plan.notes)")
    let repair = try #require(try store.repairJournal())
    #expect(repair.notes == plan.notes)
    #expect(try store.disk.read(#require(repair.backup).path).bytes == damaged)
    let words = try store.table("a").lastSnapshot.map {
      $0.fields["text"]?.string?.split(separator: " ").first ?? ""
    }
    #expect(words.map(String.init) == expected)
    #expect(try store.table("b").count == 1)
    try store.table("a").add(["text": "new"])
    try store.checkInvariants()
    try store.checkNothingIsLeftBehind()
  }
}
