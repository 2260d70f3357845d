import FileDBStorage
import Foundation
import Testing

@Suite struct FileLockTests {
  /// A wait this short is used only where the outcome is certain, so that no test depends on the speed of the machine.
  private let moment = Duration.milliseconds(20)
  private let long = Duration.seconds(60)

  private func withDisks(_ body: (any Disk, String) throws -> Void) throws {
    try withScratchFolder { try body(SystemDisk(), "\($0)/lock") }
    try body(MemoryDisk(), "/lock")
  }

  @Test func secondLockTimesOutWhileFirstIsHeld() throws {
    try withDisks { disk, path in
      let first = try disk.lock(path, timeout: moment)
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut)
      #expect(kind { _ = try disk.lock(path, timeout: .zero) } == .timedOut)
      withExtendedLifetime(first) {}
    }
  }

  @Test func lockIsReleasedWithItsValue() throws {
    try withDisks { disk, path in
      do {
        let first = try disk.lock(path, timeout: .zero)
        withExtendedLifetime(first) {}
      }
      // At once, but for a process that another test starts just now: until its `exec` it shares our open files.
      let second = try disk.lock(path, timeout: long)
      withExtendedLifetime(second) {}
      #expect(try disk.status(path)?.kind == .file, "the file stays")
    }
  }

  @Test func lockWaitsUntilHolderReleases() throws {
    try withDisks { disk, path in
      let holder = Box(try disk.lock(path, timeout: .zero))
      let thread = Thread {
        Thread.sleep(forTimeInterval: 0.05)
        holder.release()
      }
      thread.start()
      let second = try disk.lock(path, timeout: long)
      #expect(holder.isReleased)
      withExtendedLifetime(second) {}
    }
  }

  /// Somebody cleans up the folder, lock file and all, while one has the lock and another waits for it.
  @Test func lockStaysExclusiveAfterItsFileIsRemoved() throws {
    try withScratchFolder { folder in
      let (disk, path) = (SystemDisk(), "\(folder)/lock")
      let holder = Box(try disk.lock(path, timeout: .zero))
      let thread = Thread {
        Thread.sleep(forTimeInterval: 0.05)  // By now the other one is waiting.
        try? disk.remove(path)
        holder.release()
      }
      thread.start()
      let second = try disk.lock(path, timeout: long)
      #expect(holder.isReleased)
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut, "two would be inside at once")
      withExtendedLifetime(second) {}
    }
  }

  /// The file stays open from one lock to the next.
  @Test func anotherFileInThePlaceOfAKeptOneIsLocked() throws {
    try withScratchFolder { folder in
      let (disk, path) = (SystemDisk(), "\(folder)/lock")
      for _ in 0..<2 { withExtendedLifetime(try disk.lock(path, timeout: long)) {} }
      try disk.rename(path, to: path + "~")
      let other = try SystemDisk().lock(path, timeout: .zero)
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut, "two would be inside at once")
      withExtendedLifetime(other) {}
    }
  }

  @Test(
    .enabled(
      if: FileManager.default.isExecutableFile(atPath: "/usr/bin/flock"), "flock, of util-linux, is missing"))
  func lockIsReleasedWhenProcessIsKilled() throws {
    try withScratchFolder { folder in
      let (disk, path) = (SystemDisk(), "\(folder)/lock")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      // `exec`, so that the process to kill is the only one that has the file open.
      process.arguments = ["-c", #"exec 9>>"$0"; /usr/bin/flock 9; echo locked; exec sleep 600"#, path]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      #expect(output.fileHandleForReading.readData(ofLength: 6) == Data("locked".utf8))
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let lock = try disk.lock(path, timeout: long)
      withExtendedLifetime(lock) {}
    }
  }
}

/// A lock that one thread takes and another gives up.
private final class Box: @unchecked Sendable {
  private let mutex = NSLock()
  private var lock: FileLock?

  init(_ lock: consuming FileLock) { self.lock = consume lock }

  func release() { mutex.withLock { lock = nil } }
  var isReleased: Bool { mutex.withLock { lock == nil } }
}
