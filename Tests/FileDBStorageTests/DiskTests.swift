import FileDBStorage
import Foundation
import Testing

/// The two disks must behave alike, or a test on one of them proves nothing about the other.
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
  func readReturnsWrittenBytes(on disk: DiskUnderTest, count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try disk { disk, folder in
      let file = try disk.create("\(folder)/a", as: .usual)
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
  func readRefusesFoldersAndMissingFiles(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      #expect(kind { _ = try disk.read(folder) } == .isFolder)
      #expect(kind { _ = try disk.readPrefix(folder, count: 1) } == .isFolder)
      #expect(kind { _ = try disk.read("\(folder)/missing") } == .notFound)
      #expect(kind { _ = try disk.readPrefix("\(folder)/missing", count: 1) } == .notFound)
      #expect(kind { _ = try disk.read("\(folder)/missing/deeper") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func statusTellsFilesFoldersAndMissingPaths(on disk: DiskUnderTest) throws {
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
  func listReturnsNamesOfOneFolderOnly(on disk: DiskUnderTest) throws {
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
  func createFolderMakesParentsAndMakeFolderDoesNot(on disk: DiskUnderTest) throws {
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
  func createRefusesExistingPathsAndMissingFolders(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("old", at: "\(folder)/file")
      try disk.makeFolder("\(folder)/sub")
      #expect(kind { _ = try disk.create("\(folder)/file", as: .usual) } == .exists)
      #expect(kind { _ = try disk.create("\(folder)/sub", as: .usual) } == .exists)
      #expect(kind { _ = try disk.create("\(folder)/missing/file", as: .usual) } == .notFound)
      #expect(kind { _ = try disk.create("\(folder)/file/below", as: .usual) } == .notFound)
      #expect(try disk.text("\(folder)/file") == "old")
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func renameMovesAndOverwritesFiles(on disk: DiskUnderTest) throws {
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
  func removeDeletesFilesButNotFolders(on disk: DiskUnderTest) throws {
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
  func syncFolderAcceptsOnlyExistingFolders(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.syncFolder(folder)
      try disk.put("", at: "\(folder)/file")
      #expect(kind { try disk.syncFolder("\(folder)/missing") } == .notFound)
      #expect(kind { try disk.syncFolder("\(folder)/file") } == .notFound)
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func resolveAcceptsMissingFileInExistingFolder(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      try disk.put("", at: "\(folder)/file")
      #expect(try disk.resolve("\(folder)/file") == "\(folder)/file")
      #expect(try disk.resolve("\(folder)/missing") == "\(folder)/missing")
      #expect(kind { _ = try disk.resolve("\(folder)/missing/file") } == .notFound)
      #expect(try disk.resolve("/missing-at-the-top") == "/missing-at-the-top")
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func lockCreatesItsFileButNotItsFolder(on disk: DiskUnderTest) throws {
    try disk { disk, folder in
      #expect(kind { _ = try disk.lock("\(folder)/missing/lock", timeout: .zero) } == .notFound)
      let lock = try disk.lock("\(folder)/lock", timeout: .zero)
      #expect(try disk.status("\(folder)/lock")?.kind == .file)
      withExtendedLifetime(lock) {}
    }
  }

  @Test(arguments: DiskUnderTest.allCases)
  func replaceChangesContentAndStamp(on disk: DiskUnderTest) throws {
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
