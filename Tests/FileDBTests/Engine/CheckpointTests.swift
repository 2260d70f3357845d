import FileDB
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

/// What another program does while a checkpoint is at work.
@Suite struct CheckpointTests {
  private static let place = URL(fileURLWithPath: "/store")
  private static let file = "/store/t.plist"

  private static func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(at: place, disk: disk, options: StoreOptions(checkpoints: .manual))
  }

  /// What an editor saves: the file as it was, with other text in the first record.
  private static func edited(_ disk: MemoryDisk) throws -> [UInt8] {
    let text = String(decoding: try disk.read(file).bytes, as: UTF8.self)
    return Array(text.replacing("<string>first<", with: "<string>by hand<").utf8)
  }

  private static func store(on disk: MemoryDisk) throws {
    let store = try open(disk)
    try store.table("t").add(["text": "first"])
    try store.checkpoint()
    try store.table("t").add(["text": "second"])
    try store.table("u").add(["text": "of another table"])
  }

  /// The same with a commit that changes the record that the editor changes.
  private static func conflictingStore(on disk: MemoryDisk) throws {
    try store(on: disk)
    try open(disk).table("t").set(["text": "changed"], of: 1)
  }

  @Test func checkpointWithNothingToWriteRemovesWhatACrashLeft() throws {
    let memory = MemoryDisk()
    try Self.store(on: memory)
    try Self.open(memory).checkpoint()
    for draft in ["/store/.filedb/.journal.1abc.filedb-draft", "/store/.t.plist.2abc.filedb-draft"] {
      _ = try memory.replace(draft, with: [1])
    }
    let store = try Self.open(memory)
    try store.checkNothingIsLeftBehind()
  }

  /// The editor saves before each call of the checkpoint in turn: what it saved is in the table's file, in the
  /// journal's next commit or among the backups, and no record of the store's is lost.
  @Test func whatAnEditorSavesDuringACheckpointIsKept() throws {
    var conflicts = 0
    for number in 0... {
      let memory = MemoryDisk()
      try Self.conflictingStore(on: memory)
      let saved = try Self.edited(memory)
      let disk = FaultyDisk(over: memory) { verb, _ in
        if verb == number { _ = try? memory.replace(Self.file, with: saved) }
      }
      let store = try Self.open(disk)
      let error = storeError { try store.checkpoint() }
      if disk.verbs.count <= number { break }
      if error != nil { conflicts += 1 }
      #expect(error == nil || error?.code == .conflict)
      let files = memory.image.files
      #expect(
        files.values.contains(saved),
        "what was saved before call \(number) (\(disk.verbs[number])) is nowhere")
      if error == nil {
        let after = try Self.open(memory).table("t")
        #expect(try after.count == 2 || files[Self.file] == saved, "before call \(number)")
      } else {
        #expect(files[Self.file] == saved)
        let fresh = try Self.open(memory)
        #expect(storeError { _ = try fresh.table("t").lastSnapshot }?.code == .conflict)
        try fresh.repair("t", keeping: .both)
        let texts = try fresh.table("t").lastSnapshot.map { $0.fields["text"] }
        #expect(Set(texts) == ["by hand", "changed", "second"], "before call \(number)")
      }
      let others = try Self.open(memory).table("u")
      #expect(try others.count == 1)
    }
    #expect(conflicts > 5)
  }

  /// The editor saves before each call in turn, and the process dies right after it or a little later.
  @Test(arguments: [0, 1, 2, 3]) func whatAnEditorSavesBeforeACrashIsKept(later: Int) throws {
    for number in 0... {
      let memory = MemoryDisk()
      try Self.conflictingStore(on: memory)
      let saved = try Self.edited(memory)
      let disk = FaultyDisk(over: memory, faults: .fail(at: number + later, lasting: true)) { verb, _ in
        if verb == number { _ = try? memory.replace(Self.file, with: saved) }
      }
      do { try Self.open(disk).checkpoint() } catch {}
      if disk.verbs.count <= number { break }
      let fresh = try Self.open(memory)
      var isInConflict = false
      do { try fresh.checkpoint() } catch StoreError.Code.conflict {
        isInConflict = true
        try fresh.repair("t", keeping: .both)
      }
      #expect(
        memory.image.files.values.contains(saved),
        "what was saved before call \(number) (\(disk.verbs[number])) is nowhere")
      // Without a conflict the editor saved its old text when all was done.
      let isSecondThere = try fresh.table("t").lastSnapshot.contains { $0.fields["text"] == "second" }
      #expect(isSecondThere || !isInConflict && memory.image.files[Self.file] == saved, "call \(number)")
      try fresh.checkNothingIsLeftBehind()
    }
  }

  /// The same if the commits do not concern what the editor changes. Both are in the table afterwards. Once the journal
  /// knows the checkpoint's file, it is a conflict, and a crash in the middle of an exchange of names may
  /// leave what the editor saved among the backups.
  @Test(arguments: [0, 1, 2, 3, 1_000]) func whatAnEditorSavesIsMergedWithCommits(later: Int) throws {
    for number in 0... {
      let memory = MemoryDisk()
      try Self.store(on: memory)
      let saved = try Self.edited(memory)
      let disk = FaultyDisk(over: memory, faults: .fail(at: number + later, lasting: true)) { verb, _ in
        if verb == number { _ = try? memory.replace(Self.file, with: saved) }
      }
      do { try Self.open(disk).checkpoint() } catch {}
      if disk.verbs.count <= number { break }
      let fresh = try Self.open(memory)
      do { try fresh.checkpoint() } catch StoreError.Code.conflict { try fresh.repair("t", keeping: .both) }
      let texts = try fresh.table("t").lastSnapshot.map { $0.fields["text"] }
      // The editor may have saved its old text when all was done.
      let isLate = memory.image.files[Self.file] == saved
      let isKept = texts.contains("by hand") || later < 1_000 && memory.image.files.values.contains(saved)
      #expect(texts.contains("second") && isKept || isLate, "call \(number) (\(disk.verbs[number]))")
      try fresh.checkNothingIsLeftBehind()
    }
  }

  @Test func diskWithoutExchangesLooksBeforeItReplaces() throws {
    for number in 0... {
      let memory = MemoryDisk()
      try Self.conflictingStore(on: memory)
      let saved = try Self.edited(memory)
      let disk = FaultyDisk(over: memory, faults: .refuse(.exchange, errno: ENOSYS)) { verb, kind in
        // Between the look and the rename nothing can be done.
        if verb == number, kind != .rename { _ = try? memory.replace(Self.file, with: saved) }
      }
      let store = try Self.open(disk)
      let error = storeError { try store.checkpoint() }
      if disk.verbs.count <= number { break }
      #expect(error == nil || error?.code == .conflict)
      if disk.verbs[number] == .rename { continue }
      #expect(
        memory.image.files.values.contains(saved),
        "what was saved before call \(number) (\(disk.verbs[number])) is nowhere")
    }
  }

  /// Each store has a journal of its own, and may not write over what the other has put into the file.
  @Test func storesThatShareAFileByALinkLoseNothing() throws {
    for number in 0... {
      let folder = try makeTemporaryFolder()
      defer { try? FileManager.default.removeItem(at: folder) }
      let (one, two) = (folder.appendingPathComponent("one"), folder.appendingPathComponent("two"))
      let options = StoreOptions(checkpoints: .manual)
      let first = try RecordStore(at: one, options: options)
      try first.table("t").add(["text": "first"])
      try first.checkpoint()
      try FileManager.default.createDirectory(at: two, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: two.appendingPathComponent("t.plist"), withDestinationURL: one.appendingPathComponent("t.plist"))
      let second = try RecordStore(at: two, options: options)
      try second.table("t").add(["text": "of the second"])

      let isDone = Mutex(false)
      let disk = FaultyDisk(over: SystemDisk()) { verb, _ in
        if verb == number, !isDone.withLock({ $0 }) {
          isDone.withLock { $0 = true }
          try? second.checkpoint()
        }
      }
      let writer = try RecordStore(at: one, disk: disk, options: options)
      var acknowledged: Set = ["first", "of the second"]
      do {
        try writer.table("t").add(["text": "of the first"])
        acknowledged.insert("of the first")
        try writer.checkpoint()
      } catch StoreError.Code.conflict {}
      if disk.verbs.count <= number { break }
      for url in [one, two] {
        let store = try RecordStore(at: url, options: options)
        do { try store.checkpoint() } catch StoreError.Code.conflict { try store.repair("t", keeping: .both) }
      }
      let table = try RecordStore(at: one, options: options).table("t")
      let texts = table.lastSnapshot.map { $0.fields["text"]?.string ?? "" }
      #expect(Set(texts) == acknowledged, "before call \(number): \(texts)")
    }
  }
}
