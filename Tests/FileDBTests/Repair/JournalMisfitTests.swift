import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A journal that can be read, with a commit that cannot be carried out.
@Suite struct JournalMisfitTests {
  private let path = "/store"

  @Test func commitThatDoesNotFitItsTableIsKeptAsideAndCarriedOutAsFarAsItFits() throws {
    let disk = try diskWithTable()
    try commit(
      [
        LoggedChange(.remove([AnyRecordID(rawValue: 99)!]), of: TableKey("t"), found: .nothing),
        LoggedChange(.insert([record(5, "new")], index: 1), of: TableKey("t"), found: .nothing),
      ], to: "t", on: disk)
    #expect(storeError { _ = try open(disk).table("t") }?.code == .damagedJournal)
    let store = try open(disk)
    let plan = try #require(try store.journalRepairPlan())
    #expect(plan.notes.contains { $0.contains("does not fit the table") }, "\(plan.notes)")
    let repair = try #require(try store.repairJournal())
    let kept = String(decoding: try disk.read(#require(repair.backup).path).bytes, as: UTF8.self)
    #expect(kept.contains("new") && kept.contains("99"), "the backup is text")
    #expect(try open(disk).table("t").lastSnapshot.map { $0.fields["from"] } == ["file", "new"])
    #expect(try open(disk).repairJournal() == nil)
    try open(disk).checkInvariants()
    try open(disk).checkNothingIsLeftBehind()
  }

  @Test(arguments: ["../t", ".filedb/lock", "a/b", ".t", "t.plist", ""])
  func commitForATableThatCannotBeIsKeptAside(name: String) throws {
    let disk = try diskWithTable()
    let outside = try disk.list("/")
    try commit(
      [
        LoggedChange(.create, of: TableKey(name), found: .nothing),
        LoggedChange(.insert([record(1, "kept aside")], index: 0), of: TableKey(name), found: .nothing),
      ], to: name, on: disk)
    let store = try open(disk)
    _ = storeError { try store.checkpoint() }
    let repair = try #require(try store.repairJournal())
    #expect(repair.lostCount == 1)
    #expect(repair.notes.contains { $0.contains("not a table's name") }, "\(repair.notes)")
    let kept = String(decoding: try disk.read(#require(repair.backup).path).bytes, as: UTF8.self)
    #expect(kept.contains("kept aside"))
    #expect(try open(disk).table("t").lastSnapshot.map { $0.fields["from"] } == ["file"])
    #expect(try open(disk).tableNames == ["t"])
    #expect(try disk.list("/") == outside)
    try open(disk).checkNothingIsLeftBehind()
  }

  private func record(_ id: Int64, _ from: String) -> EncodedRecord {
    EncodedRecord(id: AnyRecordID(rawValue: id)!, fields: ["from": .string(from)])
  }

  private func diskWithTable() throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    try store.table("t").add(["from": "file"])
    try store.checkpoint()
    return disk
  }

  private func open(_ disk: MemoryDisk) throws -> RecordStore {
    try RecordStore(at: URL(fileURLWithPath: path), disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  /// Puts a commit into the journal that no store would make.
  private func commit(_ changes: [LoggedChange], to table: String, on disk: MemoryDisk) throws {
    let file = table == "t" ? FileVersion(try disk.read("\(path)/t.plist").bytes) : .absent
    let commit = JournalCommit(
      date: Date(timeIntervalSince1970: 0), token: .random(),
      tables: [TableKey(table): JournalCommit.Table(sequence: nil, base: file)], changes: changes)
    let journal = "\(path)/.filedb/journal"
    let after = try #require(try Journal.open(journal, on: disk)).journal.sequence
    let staged = try Journal.stage(journal, on: disk, after: after, frames: [(.commit, commit.payload())])
    try disk.syncFolder(disk.install(staged))
  }
}
