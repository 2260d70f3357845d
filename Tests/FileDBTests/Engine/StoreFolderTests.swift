import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

@Suite struct StoreFolderTests {
  private func folder(_ files: [String: String]) -> (StoreFolder, MemoryDisk) {
    let disk = MemoryDisk(.store(files))
    return (StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk)), disk)
  }

  @Test func tableHasAPlistOrABareFile() throws {
    let (folder, _) = folder(["a.plist": "", "b": ""])
    #expect(try folder.file(of: "a").path == "\(folder.path)/a.plist")
    #expect(try folder.file(of: "b").path == "\(folder.path)/b")
    let new = try folder.file(of: "new")
    #expect(new.path == "\(folder.path)/new.plist" && new.status == nil)
  }

  @Test func twoFilesForOneTableAreAmbiguous() {
    let (folder, _) = folder(["a.plist": "", "a": ""])
    #expect(storeError { _ = try folder.file(of: "a") }?.code == .ambiguousTable)
  }

  @Test func bareFilesCountAsTablesWhereTheyBeginAsPropertyLists() throws {
    let (folder, _) = folder(["a.plist": "", "b": "<?xml?><plist>", "notes.txt": "text", ".hidden.plist": ""])
    #expect(try folder.tableNames() == ["a", "b"])
  }

  /// Like a process that was stopped while it waited for its turn.
  @Test func processThatIsStuckInTheQueueBlocksNobody() throws {
    let disk = MemoryDisk(.store([:]))
    let folder = StoreFolder(path: CrashWorkload.storeFolder, disk: StoreDisk(disk), queuePatience: .zero)
    do { _ = try folder.lock(timeout: .zero) }
    let stuck = try disk.lock("\(folder.ownFolder)/queue", timeout: .zero)
    do { _ = try folder.lock(timeout: longestWait) }
    withExtendedLifetime(stuck) {}
  }

  /// A regression: a busy writer took the lock again and again before others noticed that it was free.
  @Test func writerThatComesBackFindsTheWaitingOneAheadOfIt() throws {
    let (busy, memory) = folder([:])
    let lock = HeldLock(try busy.lock(timeout: .zero))
    let tries = Mutex(0)
    let error = Mutex<StoreError?>(nil)
    let disk = FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        guard verb == .lock, path == "\(busy.ownFolder)/lock" else { return nil }
        let number = tries.withLock { number in
          number += 1
          return number
        }
        if number == 2 {
          lock.release()
          let refusal = storeError { _ = try busy.lock(timeout: .zero) }
          error.withLock { $0 = refusal }
        }
        return nil
      })
    let waiting = StoreFolder(path: busy.path, disk: StoreDisk(disk))
    do { _ = try waiting.lock(timeout: longestWait) }
    #expect(error.withLock(\.self)?.code == .locked)
  }

  @Test func lockMakesTheFolderOnceAndKeepsGitAway() throws {
    let (folder, disk) = folder([:])
    do { _ = try folder.lock(timeout: .zero) }
    #expect(try disk.read("\(folder.path)/.filedb/.gitignore").bytes == Array("*\n".utf8))
    #expect(try Set(disk.list("\(folder.path)/.filedb")) == [".gitignore", "lock", "queue"])
  }

  /// As some network file systems do.
  @Test func diskWhoseLocksKeepNobodyOutIsRefused() throws {
    let memory = MemoryDisk(.store(["t.plist": ""]))
    let folder = StoreFolder(
      path: CrashWorkload.storeFolder, disk: StoreDisk(FaultyDisk(over: memory, faults: .skip(.lock))))
    let error = try #require(storeError { _ = try folder.lock(timeout: .zero) })
    #expect(error.code == .inputOutput && error.message.contains("does not lock files"))
    #expect(try !memory.list("\(folder.path)/.filedb").contains("journal"))
  }

  @Test func lockIsRefusedWhileAnotherHoldsIt() throws {
    let (folder, disk) = folder([:])
    let other = StoreFolder(path: folder.path, disk: StoreDisk(disk))
    let lock = try folder.lock(timeout: .zero)
    #expect(storeError { _ = try other.lock(timeout: .zero) }?.code == .locked)
    withExtendedLifetime(lock) {}
  }

  @Test func recordsAreReadAsTheyWereWrittenUntilTheyAreRemoved() throws {
    let (folder, disk) = folder([:])
    do { _ = try folder.lock(timeout: .zero) }
    let records = (1...3).map { EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: ["n": .integer($0)]) }
    let change = LoggedChange(.insert(records, index: 0), of: TableKey("t"), found: .insertion(above: nil))
    let commit = JournalCommit(date: Date(), token: nil, tables: [:], changes: [change])
    let file = try folder.writeRecords(commit)
    #expect(file.count == 3)
    #expect(try folder.readRecords(file) == records.flatMap(\.bytes))
    folder.removeRecords(except: [])
    #expect(try !disk.list("\(folder.path)/.filedb").contains(file.name))
  }
}
