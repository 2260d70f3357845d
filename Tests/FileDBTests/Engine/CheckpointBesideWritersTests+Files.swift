import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// What becomes of the files that a checkpoint is about to replace.
extension CheckpointBesideWritersTests {
  /// A draft is made like the file that it replaces. If somebody closes the file meanwhile, it stays closed.
  @Test func modeThatChangesMeanwhileIsKept() throws {
    try withTemporaryFolder { folder in
      let options = StoreOptions(checkpoints: .manual)
      let store = try RecordStore(at: folder, options: options)
      try store.table("t").add(["n": 1])
      try store.checkpoint()
      try store.table("t").add(["n": 2])
      let file = folder.appendingPathComponent("t.plist").path
      let isDone = Atomic<Bool>(false)
      let disk = Self.disk(over: SystemDisk()) {
        try SystemDisk().setMode(file, 0o600)
        isDone.store(true, ordering: .relaxed)
      }
      try RecordStore(at: folder, disk: disk, options: options).checkpoint()
      let wasDone = isDone.load(ordering: .relaxed)
      #expect(wasDone)
      #expect(try SystemDisk().status(file)?.mode == 0o600)
      #expect(try RecordStore(at: folder, options: options).pendingCommits().isEmpty)
      try store.refresh()
      try store.checkInvariants()
    }
  }

  /// Two stores have a table whose files are links to one file. Each is another program to the other.
  @Test func storesThatShareOneFileLoseNothing() throws {
    try withTemporaryFolder { parent in
      @Sendable func open(_ name: String, _ disk: any Disk = SystemDisk()) throws -> RecordStore {
        try RecordStore(
          at: parent.appendingPathComponent(name), disk: disk,
          options: StoreOptions(lockTimeout: .zero, checkpoints: .manual))
      }
      for number in 0... {
        let names = ["one \(number)", "two \(number)"]
        let shared = parent.appendingPathComponent("shared \(number).plist")
        for name in names {
          let store = try open(name)
          try store.table("own").add(["n": 0])
          let file = try store.url(of: "t")
          try FileManager.default.createSymbolicLink(at: file, withDestinationURL: shared)
          if name == names[0] {
            try store.table("t").add(["n": 1])
            try store.checkpoint()
          }
        }
        try open(names[0]).table("t").add(["n": 100])
        try open(names[1]).table("t").set(["n": 7], of: 1)
        let disk = FaultyDisk(over: SystemDisk()) { verb, _ in
          guard verb == number else { return }
          do { try open(names[1]).checkpoint() } catch StoreError.Code.conflict {} catch {
            Issue.record(error)
          }
        }
        let isInConflict = storeError { try open(names[0], disk).checkpoint() }?.code == .conflict
        if disk.verbs.count <= number { break }
        for name in names {
          do { try open(name).checkpoint() } catch StoreError.Code.conflict {
            try open(name).repair("t", keeping: .both)
          }
        }
        let numbers = try open(names[0]).table("t").lastSnapshot.map { $0["n"]?.integer }
        #expect(Set(numbers).isSuperset(of: [7, 100]), "before call \(number), in conflict: \(isInConflict)")
        for name in names {
          try open(name).checkInvariants()
          try open(name).checkNothingIsLeftBehind()
        }
      }
    }
  }

  /// The disk is full when a part of the draft has been written. Others go on.
  @Test func diskThatFillsMeanwhileKeepsTheFiles() throws {
    let memory = try Self.prepared()
    let before = try memory.read(Self.file).bytes
    let disk = FaultyDisk(
      over: memory,
      faults: .choose { verb, path in
        verb == .append && path.contains("t.plist") ? .fail(errno: ENOSPC) : nil
      })
    let store = try Self.open(disk)
    #expect(storeError { try store.checkpoint() }?.code == .diskFull)
    #expect(try memory.read(Self.file).bytes == before)
    try store.table("t").add(["n": 200])
    #expect(try memory.list("/store").allSatisfy { !$0.contains("t.plist") || $0 == "t.plist" })
    let fresh = try Self.open(memory)
    #expect(try Self.contents(fresh) == Self.contents(store))
    try fresh.checkpoint()
    try store.refresh()
    #expect(try Self.countInFile(memory) == 6)
    for store in [store, fresh] { try store.checkInvariants() }
    try fresh.checkNothingIsLeftBehind()
  }
}
