import FileDBStorage
import Foundation
import Testing

@Suite struct NameExchangeTests {
  let disk = SystemDisk()

  private func inode(_ path: String) throws -> UInt64? { try disk.status(path)?.stamp.inode }

  @Test func exchangeSwapsTwoFiles() throws {
    try withScratchFolder { folder in
      let (first, second) = ("\(folder)/first", "\(folder)/second")
      try disk.put("one", at: first)
      try disk.put("two", at: second)
      let before = (try inode(first), try inode(second))
      try disk.exchange(first, with: second)
      #expect(try disk.text(first) == "two")
      #expect(try disk.text(second) == "one")
      #expect(try (inode(second), inode(first)) == before)
      #expect(Set(try disk.list(folder)) == ["first", "second"])
    }
  }

  @Test func exchangeWithMissingFileFailsAndChangesNothing() throws {
    try withScratchFolder { folder in
      let (file, missing) = ("\(folder)/file", "\(folder)/missing")
      try disk.put("text", at: file)
      #expect(kind { try disk.exchange(file, with: missing) } == .notFound)
      #expect(kind { try disk.exchange(missing, with: file) } == .notFound)
      #expect(try disk.text(file) == "text")
      #expect(try disk.list(folder) == ["file"])
    }
  }

  @Test func exchangeSwapsLinkAndNotItsTarget() throws {
    try withScratchFolder { folder in
      let (target, link, file) = ("\(folder)/target", "\(folder)/link", "\(folder)/file")
      try disk.put("of the target", at: target)
      try disk.put("of the file", at: file)
      try #require(symlink("target", link) == 0)
      let before = try inode(target)
      try disk.exchange(link, with: file)
      #expect(try disk.status(file)?.isLink == true)
      #expect(try disk.text(file) == "of the target")
      #expect(try disk.status(link)?.isLink == false)
      #expect(try disk.text(link) == "of the file")
      #expect(try disk.status(target)?.isLink == false)
      #expect(try inode(target) == before)
    }
  }

  @Test func freeNameIsTakenAndNoOther() throws {
    try withScratchFolder { folder in
      let (file, taken, free) = ("\(folder)/file", "\(folder)/taken", "\(folder)/free")
      try disk.put("text", at: file)
      try disk.put("another", at: taken)
      #expect(kind { try disk.rename(file, toFree: taken) } == .exists)
      try disk.rename(file, toFree: free)
      #expect(try disk.text(free) == "text" && disk.text(taken) == "another")
      #expect(Set(try disk.list(folder)) == ["free", "taken"])
    }
  }
}
