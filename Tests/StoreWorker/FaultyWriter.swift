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
    /// The error number that the store must pass on; 0 where it must not fail at all.
    let errno: Int32
    /// How many errors there may be: one for a fault that comes once, some for one that lasts until it is stopped.
    let patience: Int

    private var writer: Writer?
    private var errors = 0

    init(
      folder: URL, name: String, seed: UInt64, tablesPerCommit: Int, errno: Int32, patience: Int
    ) {
      self.folder = folder
      self.name = name
      self.tablesPerCommit = tablesPerCommit
      random = Random(seed: seed)
      self.errno = errno
      self.patience = patience
    }

    /// Opens the store twice, and works with it each time.
    mutating func run() throws {
      for _ in 0..<2 {
        writer = nil
        for _ in 0..<4 { try persist { try $0.commit() } }
      }
    }

    /// Does `step` again and again until it works.
    private mutating func persist(_ step: (inout Writer) throws -> Void) throws {
      while true {
        do {
          if writer == nil { writer = try open() }
          return try step(&writer!)
        } catch let error as StoreError {
          try goOn(after: error)
        }
      }
    }

    private mutating func open() throws -> Writer {
      let writer = try Writer(
        folder: folder, name: name, seed: random.next(), tablesPerCommit: tablesPerCommit)
      try WriterLine.opened(sequence: writer.model.sequence).say()
      return writer
    }

    private mutating func goOn(after error: StoreError) throws {
      errors += 1
      try require(errors <= patience, "the fault is gone, and yet: \(error.code.rawValue): \(error)")
      try require(error.errno == errno, "error number \(error.errno ?? 0) of another fault: \(error)")
      if let writer {
        try writer.readWithoutTheDisk()
        if error.code == StoreError.outcomeUnknown {
          try writer.requireClosed()
          self.writer = nil
        } else {
          try WriterLine.undone(sequence: writer.model.sequence + 1).say()
        }
      }
      guard errors == patience else { return }
      try stopFaults()
      try self.writer?.compare()
    }

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
      for name in workTables {
        for row in try store.table(name).snapshot { try require(row.value.isWhole, "a row in part: \(row)") }
      }
    }

    /// - Throws: ``Fault`` where the store takes a write.
    fileprivate func requireClosed() throws {
      do {
        try store.write { _ in }
      } catch StoreError.closed {
        return
      }
      throw Fault("the store takes a write, though the outcome of the one before is unknown")
    }

    /// - Throws: ``Fault`` where the store shows anything but this writer's commits.
    fileprivate func compare() throws {
      try model.compare(with: Sighting(of: store, tablesPerCommit: tablesPerCommit))
    }
  }
#endif
