import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct FolderWatchTests {
  @Test func everyKindOfChangeEndsWait() throws {
    try withTemporaryFolder { folder in
      let (file, other) = (folder.appendingPathComponent("file"), folder.appendingPathComponent("other"))
      let watch = try FolderWatch()
      try #require(watch.watch([folder.path]) || !isTold)
      try expectChange(watch, in: folder) { try Data("1".utf8).write(to: file) }
      try expectChange(watch, in: folder) {
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data("2".utf8))
        try handle.close()
      }
      try expectChange(watch, in: folder) { try FileManager.default.moveItem(at: file, to: other) }
      try expectChange(watch, in: folder) { try FileManager.default.removeItem(at: other) }
    }
  }

  @Test func reportedChangeIsNotReportedAgain() throws {
    try withTemporaryFolder { folder in
      let watch = try FolderWatch()
      _ = watch.watch([folder.path])
      _ = try Data("1".utf8).write(to: folder.appendingPathComponent("file"))
      #expect(watch.wait(upTo: isTold ? longestWait : .zero) == isTold)
      #expect(!watch.wait(upTo: .zero))
    }
  }

  @Test func watchReturnsFalseForMissingFolder() throws {
    try withTemporaryFolder { folder in
      let watch = try FolderWatch()
      #expect(!watch.watch([folder.path, folder.appendingPathComponent("missing").path]))
    }
  }

  @Test func interruptEndsEveryWait() throws {
    let watch = try FolderWatch()
    let end = startThread("an interruption") { watch.interrupt() }
    for _ in 1...2 { #expect(watch.wait(upTo: longestWait)) }
    try end.wait()
  }

  private func expectChange(_ watch: FolderWatch, in folder: URL, _ change: () throws -> Void) throws {
    while watch.wait(upTo: .zero) {}  // A change may be reported in parts.
    try change()
    #expect(watch.wait(upTo: isTold ? longestWait : .zero) == isTold)
    _ = watch.watch([folder.path])
  }

  private var isTold: Bool {
    #if canImport(Darwin) || canImport(Glibc)
      true
    #else
      false
    #endif
  }
}
