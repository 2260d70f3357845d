import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct FileStampTests {
  let disk = SystemDisk()

  @Test func stampProvesFileUnchanged() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      let before = try settledStamp(of: "\(folder)/file")
      _ = try disk.read("\(folder)/file")
      #expect(try disk.read("\(folder)/file").stamp.provesUnchanged(since: before))
    }
  }

  @Test func stampNoticesReplacedFile() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      let before = try settledStamp(of: "\(folder)/file")
      // Of the same size and age as the old one.
      try run("cp", "-p", "\(folder)/file", "\(folder)/other")
      try run("mv", "\(folder)/other", "\(folder)/file")
      #expect(try disk.status("\(folder)/file")?.stamp.provesUnchanged(since: before) == false)
    }
  }

  @Test func stampNoticesEditInPlace() throws {
    try withScratchFolder { folder in
      let file = "\(folder)/file"
      try disk.put("text", at: file)
      try run("cp", "-p", file, "\(folder)/as old")
      let before = try settledStamp(of: file)
      let handle = try #require(FileHandle(forWritingAtPath: file))
      handle.write(Data("TEXT".utf8))
      try handle.close()
      #expect(try disk.status(file)?.stamp.provesUnchanged(since: before) == false)
      // Nor does setting back its time hide it.
      try run("touch", "-r", "\(folder)/as old", file)
      #expect(try disk.status(file)?.stamp.provesUnchanged(since: before) == false)
      #expect(try disk.text(file) == "TEXT")
    }
  }

  /// Two edits in quick succession may leave the same time, so a stamp taken between them must not prove anything.
  @Test func freshStampProvesNothing() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      // From the future, so that it is fresh however long this test takes.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: 86_400)], ofItemAtPath: "\(folder)/file")
      let stamp = try #require(try disk.status("\(folder)/file")?.stamp)
      #expect(!stamp.isSettled)
      #expect(!stamp.provesUnchanged(since: stamp))
    }
  }

  @Test func everyPartOfStampIsCompared() throws {
    // On a disk in memory every stamp is settled.
    let stamp = try MemoryDisk().replace("/file", with: "text".bytes)
    #expect(stamp.provesUnchanged(since: stamp))
    for part in [\FileStamp.device, \.inode] as [WritableKeyPath<FileStamp, UInt64>] {
      var other = stamp
      other[keyPath: part] += 1
      #expect(!other.provesUnchanged(since: stamp))
    }
    var other = stamp
    other.size += 1
    #expect(!other.provesUnchanged(since: stamp))
    other = stamp
    other.changed += 1
    #expect(!other.provesUnchanged(since: stamp))
    other = stamp
    other.isSettled = false
    #expect(other.provesUnchanged(since: stamp))
    #expect(!stamp.provesUnchanged(since: other))
  }

  /// The times are those that a file system keeps; `tick` is how far apart two changes may be and leave the same.
  @Test(arguments: [(0, 2_000), (0, 1_000), (4_000_000, 10)])
  func stampProvesNothingWithinATickOfItsClock(fraction: Int64, tick: Int64) {
    let changed: Int64 = 1_700_000_000_000_000_000 + fraction
    #expect(!FileStamp.isSettled(modified: changed, changed: changed, now: changed + tick * 1_000_000))
    #expect(FileStamp.isSettled(modified: changed, changed: changed, now: changed + 2_200_000_000))
  }

  /// An editor may set the time of modification; that of the change is the file system's own.
  @Test func wholeSecondsOfModificationAloneAreNoSlowClock() {
    let modified: Int64 = 1_700_000_000_000_000_000
    let changed = modified + 123_456_789
    #expect(FileStamp.isSettled(modified: modified, changed: changed, now: changed + 60_000_000))
  }
}
