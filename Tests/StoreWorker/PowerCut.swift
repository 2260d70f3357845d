#if os(Linux)
  import FileDB
  import Foundation

  /// Cuts the power of a file system under its writers at random moments, and checks, once it is mounted again, that
  /// what was acknowledged is there, and nothing in part. For root, with an ext4 file system on a loop device.
  struct PowerCut {
    var device: String
    var mountPoint: URL
    var scratch: URL
    var cuts: Int
    var writers: Int
    var tablesPerCommit: Int
    var random: Random

    /// Cuts after which a store begins anew, for a store's first commits make folders and files.
    private static let cutsPerStore = 40

    mutating func run() throws {
      var (commits, inside, stored, saves) = (0, 0, 0, 0)
      var left = cuts
      let start = ContinuousClock.now
      defer {
        let seconds = max(0.001, (ContinuousClock.now - start) / .seconds(1))
        let done = cuts - left
        report(
          """
          \(done) power cuts, \(inside) commits cut off, \(stored) of them stored
          \(commits) commits acknowledged, \(saves) saves of an editor, \(Int(Double(done) / seconds)) cuts a second
          """)
      }
      while left > 0 {
        let folder = mountPoint.appendingPathComponent("store\(left)")
        let given = GivenIDs()
        var editor = Editor(folder: folder)
        let writers = (1...writers).map {
          SupervisedWriter(
            name: "writer\($0)", folder: folder, scratch: scratch, tablesPerCommit: tablesPerCommit,
            given: given)
        }
        defer {
          saves += editor.saves
          for writer in writers { writer.child?.remove() }
          commits += writers.map(\.acknowledged).reduce(0, +)
          inside += writers.map(\.cutOff.all).reduce(0, +)
          stored += writers.map(\.cutOff.stored).reduce(0, +)
        }
        for _ in 0..<min(left, Self.cutsPerStore) {
          try cutOnce(writers, &editor)
          left -= 1
          try whileMounted {
            for writer in writers { try writer.settle(sighting(folder)) }
            try editor.compare(with: sighting(folder))
          }
        }
        try whileMounted {
          for writer in writers {
            try writer.start(seed: random.next(), commits: 2)
            try writer.waitForEnd()
            try writer.listen()
            try writer.settle(sighting(folder))
          }
          try checkFiles(in: folder)
          try FileManager.default.removeItem(at: folder)
        }
      }
    }

    private mutating func cutOnce(_ writers: [SupervisedWriter], _ editor: inout Editor) throws {
      try whileMounted {
        let isEdited = try random.once(in: 4) && edit(&editor)
        for writer in writers { try writer.start(seed: random.next()) }
        if isEdited { try waitForCommitsOnAllTables(writers) }
        if random.once(in: 8) {
          usleep(.random(in: 0..<20_000, using: &random))
        } else if let writer = writers.randomElement(using: &random) {
          try writer.wait(commits: .random(in: 1...4, using: &random))
          usleep(.random(in: 0..<3_000, using: &random))
        }
        // Whoever has ended before the cut was not stopped by it.
        for writer in writers { try writer.requireRunning() }
        try cutPower()
        for writer in writers { try writer.kill() }
      }
    }

    private func edit(_ editor: inout Editor) throws -> Bool {
      guard FileManager.default.fileExists(atPath: editor.folder.path) else { return false }
      try openStore(editor.folder).checkpoint()
      return try editor.save()
    }

    /// What the editor saved may be lost until a commit builds on it.
    private mutating func waitForCommitsOnAllTables(_ writers: [SupervisedWriter]) throws {
      for writer in writers { writer.changedTables = [] }
      while Set(writers.flatMap(\.changedTables)) != Set(workTables.indices) {
        if let writer = writers.randomElement(using: &random) { try writer.wait(commits: 1) }
      }
    }

    private func sighting(_ folder: URL) throws -> Sighting {
      let store = try openStore(folder)
      let sighting = try Sighting(of: store, tablesPerCommit: tablesPerCommit)
      for table in try store.tableNames {
        let findings = try store.check(table)
        try require(findings.isEmpty, "\(table): \(findings)")
      }
      return sighting
    }

    /// Without flushing anything, not even the file system's own journal.
    private func cutPower() throws {
      let descriptor = open(mountPoint.path, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      let shutdown: UInt = 0x8004_587D  // EXT4_IOC_SHUTDOWN
      var withoutLogFlush: UInt32 = 2
      guard descriptor >= 0, ioctl(descriptor, shutdown, &withoutLogFlush) == 0 else {
        throw Fault("cannot shut \(mountPoint.path) down: \(systemError)")
      }
    }

    private func whileMounted(_ body: () throws -> Void) throws {
      // Without the option ext4 flushes a file by itself when it replaces another: other file systems do not.
      guard mount(device, mountPoint.path, "ext4", 0, "noauto_da_alloc") == 0 else {
        throw Fault("cannot mount \(device) at \(mountPoint.path): \(systemError)")
      }
      do {
        try body()
      } catch {
        _ = umount2(mountPoint.path, CInt(MNT_DETACH))
        throw error
      }
      guard umount(mountPoint.path) == 0 else {
        throw Fault("cannot unmount \(mountPoint.path): \(systemError)")
      }
    }

    private var systemError: String { String(cString: strerror(errno)) }
  }
#endif
