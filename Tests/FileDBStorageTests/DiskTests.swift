import FileDBStorage
import Foundation
import Testing

/// The two disks must behave alike, or a test on the one says nothing of the other.
enum DiskUnderTest: CaseIterable, Sendable {
  case memory, system

  /// Runs `body` with the disk and an empty folder on it.
  func callAsFunction(_ body: (any Disk, String) throws -> Void) throws {
    switch self {
    case .memory:
      let disk = MemoryDisk()
      try disk.createFolder("/some/folder")
      try body(disk, "/some/folder")
    case .system: try withScratchFolder { try body(SystemDisk(), $0) }
    }
  }
}

@Suite struct DiskTests {
  @Test(arguments: DiskUnderTest.allCases, [0, 1, 511, 65_536, 5 << 20])
  func readsWhatWasWritten(on disk: DiskUnderTest, count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try disk { disk, folder in
      let file = try disk.create("\(folder)/a", like: nil)
      // In pieces, as a longer file would come.
      try file.append(Array(bytes.prefix(count / 3)))
      try file.append(Array(bytes.dropFirst(count / 3)))
      let (read, stamp) = try disk.read("\(folder)/a")
      #expect(read == bytes)
      #expect(stamp.size == count)
      for length in [0, 1, count / 2, count, count + 1, count + 100_000] {
        #expect(try disk.readPrefix("\(folder)/a", count: length) == Array(bytes.prefix(length)), "\(length)")
      }
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func readsOnlyFiles(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      #expect(kind { _ = try disk.read(folder) } == .isFolder)
      #expect(kind { _ = try disk.readPrefix(folder, count: 1) } == .isFolder)
      #expect(kind { _ = try disk.read("\(folder)/missing") } == .notFound)
      #expect(kind { _ = try disk.readPrefix("\(folder)/missing", count: 1) } == .notFound)
      #expect(kind { _ = try disk.read("\(folder)/missing/deeper") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func knowsWhatIsThere(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("abc", at: "\(folder)/file")
      let file = try #require(try disk.status("\(folder)/file"))
      #expect(file.kind == .file)
      #expect(!file.isLink)
      #expect(file.stamp.size == 3)
      #expect(try disk.status(folder)?.kind == .folder)
      #expect(try disk.status("/")?.kind == .folder)
      #expect(try disk.status("\(folder)/missing") == nil)
      #expect(try disk.status("\(folder)/file/inside") == nil)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func listsOneFolder(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      #expect(try disk.list(folder) == [])
      try disk.createFolder("\(folder)/sub/deep")
      try disk.put("", at: "\(folder)/.hidden")
      try disk.put("", at: "\(folder)/naïve name")
      try disk.put("", at: "\(folder)/sub/inside")
      #expect(Set(try disk.list(folder)) == ["sub", ".hidden", "naïve name"])
      #expect(Set(try disk.list("\(folder)/sub")) == ["deep", "inside"])
      #expect(kind { _ = try disk.list("\(folder)/missing") } == .notFound)
      #expect(kind { _ = try disk.list("\(folder)/.hidden") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func makesFolders(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.createFolder("\(folder)/a/b/c")
      try disk.createFolder("\(folder)/a/b/c")
      try disk.createFolder("/")
      #expect(try disk.status("\(folder)/a/b/c")?.kind == .folder)
      #expect(kind { try disk.makeFolder("\(folder)/a") } == .exists)
      #expect(kind { try disk.makeFolder("\(folder)/x/y") } == .notFound)
      try disk.put("", at: "\(folder)/file")
      #expect(kind { try disk.createFolder("\(folder)/file") } == .exists)
      #expect(kind { try disk.createFolder("\(folder)/file/below") } == .exists)
      #expect(kind { try disk.makeFolder("\(folder)/file/below") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func createsOnlyWhatIsNotThere(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("old", at: "\(folder)/file")
      try disk.makeFolder("\(folder)/sub")
      #expect(kind { _ = try disk.create("\(folder)/file", like: nil) } == .exists)
      #expect(kind { _ = try disk.create("\(folder)/sub", like: nil) } == .exists)
      #expect(kind { _ = try disk.create("\(folder)/missing/file", like: nil) } == .notFound)
      #expect(kind { _ = try disk.create("\(folder)/file/below", like: nil) } == .notFound)
      #expect(try disk.text("\(folder)/file") == "old")
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func renames(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("a", at: "\(folder)/a")
      try disk.put("b", at: "\(folder)/b")
      try disk.makeFolder("\(folder)/sub")
      try disk.rename("\(folder)/a", to: "\(folder)/b")
      #expect(try disk.text("\(folder)/b") == "a")
      #expect(Set(try disk.list(folder)) == ["b", "sub"])
      try disk.rename("\(folder)/b", to: "\(folder)/b")
      try disk.rename("\(folder)/b", to: "\(folder)/sub/c")
      #expect(try disk.text("\(folder)/sub/c") == "a")
      #expect(kind { try disk.rename("\(folder)/missing", to: "\(folder)/x") } == .notFound)
      try disk.put("d", at: "\(folder)/d")
      #expect(kind { try disk.rename("\(folder)/d", to: "\(folder)/missing/d") } == .notFound)
      #expect(kind { try disk.rename("\(folder)/d", to: "\(folder)/sub") } == .isFolder)
      #expect(try disk.text("\(folder)/d") == "d")
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func removesFiles(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("a", at: "\(folder)/a")
      try disk.makeFolder("\(folder)/sub")
      try disk.remove("\(folder)/a")
      #expect(try disk.status("\(folder)/a") == nil)
      #expect(kind { try disk.remove("\(folder)/a") } == .notFound)
      #if os(Linux)  // Elsewhere it is `permissionDenied`, as POSIX has it.
        #expect(kind { try disk.remove("\(folder)/sub") } == .isFolder)
      #endif
      #expect(try disk.status("\(folder)/sub") != nil)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func syncsFolders(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.syncFolder(folder)
      try disk.put("", at: "\(folder)/file")
      #expect(kind { try disk.syncFolder("\(folder)/missing") } == .notFound)
      #expect(kind { try disk.syncFolder("\(folder)/file") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func resolvesWhatIsThereOrCouldBe(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("", at: "\(folder)/file")
      #expect(try disk.resolve("\(folder)/file") == "\(folder)/file")
      #expect(try disk.resolve("\(folder)/missing") == "\(folder)/missing")
      #expect(kind { _ = try disk.resolve("\(folder)/missing/file") } == .notFound)
      #expect(try disk.resolve("/missing-at-the-top") == "/missing-at-the-top")
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func locksNeedAFolder(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      #expect(kind { _ = try disk.lock("\(folder)/missing/lock", timeout: .zero) } == .notFound)
      let lock = try disk.lock("\(folder)/lock", timeout: .zero)
      #expect(try disk.status("\(folder)/lock")?.kind == .file)
      withExtendedLifetime(lock) {}
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func replacesAlike(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      let first = try disk.replace("\(folder)/file", with: "one".bytes)
      let second = try disk.replace("\(folder)/file", with: "two".bytes)
      #expect(try disk.text("\(folder)/file") == "two")
      #expect(first.inode != 0)
      #expect(!second.provesUnchanged(since: first))
      try disk.makeFolder("\(folder)/sub")
      #expect(kind { _ = try disk.replace("\(folder)/sub", with: []) } == .isFolder)
      #expect(kind { _ = try disk.replace("\(folder)/missing/file", with: []) } == .notFound)
      #expect(Set(try disk.list(folder)) == ["file", "sub"])
    }
  }
}

@Suite struct SystemDiskTests {
  let disk = SystemDisk()

  /// A pipe that nobody writes to would be waited for without end.
  @Test func doesNotWaitForAPipe() throws {
    try withScratchFolder { folder in
      try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(kind { _ = try disk.read("\(folder)/pipe") } == .other)
      #expect(kind { _ = try disk.readPrefix("\(folder)/pipe", count: 10) } == .other)
    }
  }

  #if os(Linux)
    /// The kernel's files say they have no bytes, and have some.
    @Test func readsAFileThatHidesItsSize() throws {
      let (bytes, stamp) = try disk.read("/proc/self/smaps")
      #expect(stamp.size == 0)
      #expect(bytes.count > 4_096)
      #expect(bytes.last == UInt8(ascii: "\n"))
    }

    @Test func readErrorsAreThrown() {
      #expect(throws: DiskError("read", "/proc/self/mem", errno: EIO)) { try disk.read("/proc/self/mem") }
    }

    @Test func aFileSystemWithoutFolderSyncIsNoError() throws {
      try disk.syncFolder("/proc/self")
    }
  #endif

  @Test func followsLinks() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      try #require(symlink("file", "\(folder)/link") == 0)
      try #require(symlink("nothing", "\(folder)/dangling") == 0)
      #expect(try disk.text("\(folder)/link") == "text")
      let link = try #require(try disk.status("\(folder)/link"))
      #expect(link.isLink)
      #expect(link.kind == .file)
      #expect(link.stamp == (try disk.status("\(folder)/file")?.stamp))
      #expect(try disk.resolve("\(folder)/link") == "\(folder)/file")
      #expect(try disk.status("\(folder)/dangling") == nil)
      #expect(try disk.resolve("\(folder)/dangling") == "\(folder)/nothing")
      #expect(kind { _ = try disk.create("\(folder)/dangling", like: nil) } == .exists)
      try disk.remove("\(folder)/link")
      #expect(try disk.text("\(folder)/file") == "text")
    }
  }
}

@Suite struct FileStampTests {
  let disk = SystemDisk()

  /// The stamp of a file that was last changed long enough ago.
  private func settledStamp(of path: String) throws -> FileStamp {
    while true {
      let stamp = try #require(try disk.status(path)?.stamp)
      if stamp.isSettled { return stamp }
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  @Test func provesThatAFileIsUntouched() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      let before = try settledStamp(of: "\(folder)/file")
      _ = try disk.read("\(folder)/file")
      #expect(try disk.read("\(folder)/file").stamp.provesUnchanged(since: before))
    }
  }

  @Test func noticesAReplacedFile() throws {
    try withScratchFolder { folder in
      try disk.put("text", at: "\(folder)/file")
      let before = try settledStamp(of: "\(folder)/file")
      // Of the same size and age as the old one.
      try run("cp", "-p", "\(folder)/file", "\(folder)/other")
      try run("mv", "\(folder)/other", "\(folder)/file")
      #expect(try disk.status("\(folder)/file")?.stamp.provesUnchanged(since: before) == false)
    }
  }

  @Test func noticesAnEditInPlace() throws {
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

  /// A second edit may leave the same time as the first, which a stamp in between must not take for no edit at all.
  @Test func aFreshStampProvesNothing() throws {
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

  @Test func eachPartCounts() throws {
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
}

@Suite struct DiskErrorTests {
  @Test(
    arguments: [
      (ENOENT, .notFound), (ENOTDIR, .notFound), (EEXIST, .exists), (EACCES, .permissionDenied),
      (EPERM, .permissionDenied), (EROFS, .readOnly), (ENOSPC, .full), (EDQUOT, .full), (ELOOP, .linkLoop),
      (EISDIR, .isFolder), (ETIMEDOUT, .timedOut), (EIO, .other), (EMFILE, .other),
    ] as [(CInt, DiskError.Kind)])
  func kinds(errno: CInt, kind: DiskError.Kind) {
    #expect(DiskError("open", "/a", errno: errno).kind == kind)
  }

  @Test func saysWhatFailedOnWhat() {
    let error = DiskError("write", "/a/b", errno: ENOSPC)
    #expect(error.description == "/a/b: write: \(String(cString: strerror(ENOSPC)))")
  }
}

@Suite struct PathTests {
  @Test func partsOfAPath() {
    #expect(parentFolder(of: "/a/b") == "/a")
    #expect(parentFolder(of: "/a") == "/")
    #expect(parentFolder(of: "/") == "/")
    #expect(fileName(of: "/a/b") == "b")
    #expect(fileName(of: "/a") == "a")
  }
}
