import FileDBStorage
import Foundation
import Testing

@Suite struct SystemDiskTests {
  let disk = SystemDisk()

  /// Reading a pipe that nobody writes to would never return.
  @Test func readRefusesPipeWithoutWaiting() throws {
    try withScratchFolder { folder in
      try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
      #expect(kind { _ = try disk.read("\(folder)/pipe") } == .other)
      #expect(kind { _ = try disk.readPrefix("\(folder)/pipe", count: 10) } == .other)
    }
  }

  #if os(Linux)
    /// Files that the kernel makes up report no size.
    @Test func readReturnsAllBytesOfFileWithSizeZero() throws {
      let (bytes, stamp) = try disk.read("/proc/self/smaps")
      #expect(stamp.size == 0)
      #expect(bytes.count > 4_096)
      #expect(bytes.last == UInt8(ascii: "\n"))
    }

    @Test func readErrorsAreThrown() {
      #expect(throws: DiskError("read", "/proc/self/mem", errno: EIO)) { try disk.read("/proc/self/mem") }
    }

    @Test func syncFolderAcceptsFileSystemWithoutFolderSync() throws {
      try disk.syncFolder("/proc/self")
    }
  #endif

  @Test func readStatusAndResolveFollowLinks() throws {
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
      #expect(kind { _ = try disk.create("\(folder)/dangling", as: .usual) } == .exists)
      try disk.remove("\(folder)/link")
      #expect(try disk.text("\(folder)/file") == "text")
    }
  }

  @Test func extentTellsWhichFileItIsAndHowLong() throws {
    try withScratchFolder { folder in
      let path = "\(folder)/file"
      try disk.put("text", at: path)
      try #require(symlink("file", "\(folder)/link") == 0)
      let stamp = try #require(try disk.status(path)?.stamp)
      let open = try disk.open(path)
      for extent in [try open.extent(), try #require(try disk.extent(path))] {
        #expect(extent.isSameFile(as: stamp.extent))
        #expect(extent.size == 4)
      }
      #expect(try disk.extent("\(folder)/link")?.isSameFile(as: stamp.extent) == false, "the link itself")
      #expect(try disk.extent("\(folder)/none") == nil)
      try disk.put("another", at: "\(folder)/other")
      try disk.rename("\(folder)/other", to: path)
      #expect(try disk.extent(path)?.isSameFile(as: open.extent()) == false)
      #expect(try open.extent().size == 4)
    }
  }
}
