import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct FileLockTests {
  /// The timeout where the lock is held for longer.
  private let moment = Duration.milliseconds(20)

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
      let second = try disk.lock(path, timeout: longestWait)
      withExtendedLifetime(second) {}
      #expect(try disk.status(path)?.kind == .file, "the file stays")
    }
  }

  @Test func lockWaitsUntilHolderReleases() throws {
    try withDisks { disk, path in
      let holder = HeldLock(try disk.lock(path, timeout: .zero))
      let second = try lock(path, on: disk) { holder.release() }
      #expect(holder.isReleased)
      withExtendedLifetime(second) {}
    }
  }

  /// Waits for a lock, and calls `meanwhile` once it has been refused.
  private func lock(
    _ path: String, on disk: any Disk, meanwhile: @escaping @Sendable () -> Void
  ) throws -> FileLock {
    let waiting = FaultyDisk(over: disk) { number, _ in if number == 1 { meanwhile() } }
    return try waiting.lock(path, timeout: longestWait)
  }

  /// Somebody cleans up the folder, lock file and all, while one has the lock and another waits for it.
  @Test func lockStaysExclusiveAfterItsFileIsRemoved() throws {
    try withScratchFolder { folder in
      let (disk, path) = (SystemDisk(), "\(folder)/lock")
      let holder = HeldLock(try disk.lock(path, timeout: .zero))
      let second = try lock(path, on: disk) {
        try? disk.remove(path)
        holder.release()
      }
      #expect(holder.isReleased)
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut, "two would be inside at once")
      withExtendedLifetime(second) {}
    }
  }

  /// The file stays open from one lock to the next.
  @Test func anotherFileInThePlaceOfAKeptOneIsLocked() throws {
    try withScratchFolder { folder in
      let (disk, path) = (SystemDisk(), "\(folder)/lock")
      for _ in 0..<2 { withExtendedLifetime(try disk.lock(path, timeout: longestWait)) {} }
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
      try process.start()
      #expect(output.fileHandleForReading.readData(ofLength: 6) == Data("locked".utf8))
      #expect(kind { _ = try disk.lock(path, timeout: moment) } == .timedOut)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let lock = try disk.lock(path, timeout: longestWait)
      withExtendedLifetime(lock) {}
    }
  }
}
