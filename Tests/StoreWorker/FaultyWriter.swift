#if os(Linux)
  import FileDB
  import Foundation

  /// Makes commits while calls fail, and checks that the store goes on as it promises: after a failed sync it takes no
  /// more writes, after any other error it takes the next one as soon as the fault is gone.
  struct FaultyWriter {
    let folder: URL
    let name: String
    let tablesPerCommit: Int
    var random: Random
    /// The error number that the store must pass on; 0 if it must not fail at all.
    let errno: Int32
    /// How many errors there may be: one for a fault that comes once, some for one that lasts until it is stopped.
    let patience: Int

    private let checkpoints: CheckpointPolicy
    private var writer: Writer?
    private var errors = 0
    /// How often the store was closed: by a sync whose error was told, or by one of a checkpoint that it made by
    /// itself, which tells nobody.
    private var closings = 0

    init(
      folder: URL, name: String, seed: UInt64, tablesPerCommit: Int, errno: Int32, patience: Int
    ) {
      self.folder = folder
      self.name = name
      self.tablesPerCommit = tablesPerCommit
      random = Random(seed: seed)
      checkpoints = [.automatic, .everyCommit, .manual][Int.random(in: 0..<3, using: &random)]
      self.errno = errno
      self.patience = patience
    }

    /// Opens the store twice; the second time there may be commits in the journal.
    mutating func run() throws {
      for step in [Step.commit, .commit, .checkpoint, .commit, .commit, .nothing] { try persist(step) }
      let syncs = failedSyncs
      writer = nil
      let silent = failedSyncs - syncs  // A store that is released has nobody to tell.
      for step in [Step.commit, .checkpoint, .commit, .commit, .nothing, .close] { try persist(step) }
      try require(
        errno == 0 || failedSyncs == silent || errors + closings > 0, "a sync failed, and nobody was told")
    }

    /// Doing nothing finds out whether the store still takes writes.
    private enum Step { case commit, checkpoint, nothing, close }

    /// Does `step` again and again until it works.
    private mutating func persist(_ step: Step) throws {
      while true {
        do {
          if writer == nil { writer = try open() }
          switch step {
          case .commit: try writer!.commit()
          case .checkpoint: try writer!.store.checkpoint()
          case .nothing: try writer!.store.write { _ in }
          case .close: try writer!.store.close()
          }
          return
        } catch let error as StoreError {
          try goOn(after: error, in: step)
        }
      }
    }

    private mutating func open() throws -> Writer {
      let writer = try Writer(
        folder: folder, name: name, seed: random.next(), tablesPerCommit: tablesPerCommit,
        checkpoints: checkpoints)
      try WriterLine.opened(sequence: writer.model.sequence).say()
      return writer
    }

    private mutating func goOn(after error: StoreError, in step: Step) throws {
      if error.code == .outcomeUnknown {
        try require(failedCalls.contains { $0.contains("sync ") }, "no sync failed, and yet: \(error)")
      }
      let mustBeClosed = error.code == .closed || error.code == .outcomeUnknown
      if error.code == .closed {
        closings += 1
      } else {
        errors += 1
        try require(error.errno == errno, "error number \(error.errno ?? 0) of another fault: \(error)")
      }
      try require(
        errors <= patience && closings <= errors + patience,
        "the fault is gone, and yet: \(error.code.rawValue): \(error)")
      if let writer {
        try writer.readWithoutTheDisk()
        if step == .commit, error.code != .outcomeUnknown {
          try WriterLine.undone(sequence: writer.model.sequence + 1).say()
        }
        if mustBeClosed || step == .close {
          try writer.requireClosed()
          self.writer = nil
        }
      }
      guard errors == patience, error.code != .closed else { return }
      try stopFaults()
      try self.writer?.compare()
    }

    /// The calls that failed so far, as FaultInjection.c notes them.
    private var failedCalls: [Substring] {
      let log = ProcessInfo.processInfo.environment["FAULT_LOG"]
      let text = log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
      return text.split(separator: "\n")
    }

    private var failedSyncs: Int { failedCalls.count { $0.hasPrefix("fdatasync ") } }

    /// Where the disk was full, there is room once the ballast beside the store is gone.
    private func stopFaults() throws {
      if let function = dlsym(nil, "stopFaults") {
        unsafeBitCast(function, to: (@convention(c) () -> Void).self)()
      } else {
        try FileManager.default.removeItem(at: ballast(beside: folder))
      }
    }
  }

  /// What takes the room on a disk that is too small.
  func ballast(beside folder: URL) -> URL {
    folder.deletingLastPathComponent().appendingPathComponent("ballast")
  }

  extension Writer {
    /// What was read once is there to be read, whatever the disk does.
    fileprivate func readWithoutTheDisk() throws {
      for table in tables {
        for row in table.lastSnapshot {
          try require(row.value.isWhole, "a row in part: \(row)")
        }
      }
    }

    /// - Throws: ``Fault`` if the store takes a write.
    fileprivate func requireClosed() throws {
      do {
        try store.write { _ in }
      } catch StoreError.Code.closed {
        return
      }
      throw Fault("the store takes a write, though the outcome of the one before is unknown")
    }

    /// - Throws: ``Fault`` if the store shows anything but this writer's commits.
    fileprivate func compare() throws {
      try model.compare(with: Sighting(of: store, tablesPerCommit: tablesPerCommit))
    }
  }
#endif
