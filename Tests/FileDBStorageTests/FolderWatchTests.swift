import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(40))) struct FolderWatchTests {
  /// A wait that takes this long has failed.
  private static let never = Duration.seconds(30)

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
      watch.wait(upTo: .milliseconds(10))
      #expect(elapsed { watch.wait(upTo: .milliseconds(50)) } >= .milliseconds(49))
    }
  }

  @Test func watchReturnsFalseForMissingFolder() throws {
    try withTemporaryFolder { folder in
      let watch = try FolderWatch()
      #expect(!watch.watch([folder.path, folder.appendingPathComponent("missing").path]))
    }
  }

  @Test func interruptEndsEveryWait() async throws {
    let watch = try FolderWatch()
    let thread = Thread { watch.interrupt() }
    thread.start()
    watch.wait(upTo: nil)
    watch.wait(upTo: nil)
  }

  private func expectChange(_ watch: FolderWatch, in folder: URL, _ change: () throws -> Void) throws {
    // Late reports of the previous change.
    while elapsed({ watch.wait(upTo: .milliseconds(20)) }) < .milliseconds(20) {}
    try change()
    #expect(elapsed { watch.wait(upTo: isTold ? Self.never : .zero) } < Self.never)
    _ = watch.watch([folder.path])
  }

  private var isTold: Bool {
    #if canImport(Darwin) || canImport(Glibc)
      true
    #else
      false
    #endif
  }

  private func elapsed(_ body: () -> Void) -> Duration { ContinuousClock().measure(body) }
}
