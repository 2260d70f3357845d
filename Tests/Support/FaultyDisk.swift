import FileDBStorage
import Foundation
import Synchronization

/// A disk that fails on purpose: it hands every verb on to another disk, counts it, and fails, or only pretends to
/// carry out, the ones it was told to.
///
/// Loop over the verbs until a run finishes without a fault:
///
///     for verb in 0... {
///       let disk = FaultyDisk(over: MemoryDisk(), faults: .fail(at: verb))
///       try? workload(disk)
///       // ... what must hold after this fault ...
///       if disk.faultCount == 0 { break }
///     }
package final class FaultyDisk: Disk {
  /// Every verb of ``Disk``, the two of ``WritableFile``, and those of ``OpenFile`` with a name of their own.
  package enum Verb: String, CaseIterable, Sendable {
    case read, readPrefix, status, extent, list, resolve, makeFolder, create, setMode, rename, exchange, link,
      remove,
      syncFolder,
      lock,
      makeWatch
    case append, sync
    case open, readAt, writeAt, syncData

    /// As an error names it.
    var call: String {
      switch self {
      case .sync, .syncFolder: "fsync"
      case .syncData: "fdatasync"
      default: rawValue
      }
    }
  }

  package enum Faults: Sendable {
    case none
    /// The verb with this number, counted from 0, fails, and with `lasting` every one after it as well. With
    /// `halfWritten`, an `append` that fails has written the first half of its bytes.
    case fail(at: Int, errno: CInt = EIO, lasting: Bool = false, halfWritten: Bool = false)
    /// Each verb of this kind seems to succeed and does nothing: what a program without that call would do. For
    /// verbs without a result.
    case skip(Verb)
    /// Every verb of this kind fails.
    case refuse(Verb, errno: CInt)
    /// What becomes of each verb, by the path that it is for; `nil` if it is carried out.
    case choose(@Sendable (Verb, String) -> Fault?)
  }

  /// What becomes of a verb.
  package enum Fault: Sendable {
    case fail(errno: CInt)
    /// As ``Faults/skip(_:)``.
    case skip
  }

  private struct Log {
    var verbs: [Verb] = []
    var faultCount = 0
    var written: [Verb: [Int]] = [:]
    var bytesReadInPieces: [String: Int] = [:]
  }

  private let base: any Disk
  private let faults: Faults
  /// Called before each verb, faulty or not, with its number: to meddle with the disk at that moment.
  private let before: @Sendable (Int, Verb) -> Void
  /// Called when a file that ``open(_:)`` returned is closed, with the path by which it was opened.
  private let closing: @Sendable (String) -> Void
  private let log = Mutex(Log())

  package init(
    over base: any Disk, faults: Faults = .none,
    before: @escaping @Sendable (Int, Verb) -> Void = { _, _ in },
    closing: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.base = base
    self.faults = faults
    self.before = before
    self.closing = closing
  }

  /// The verbs so far, in order.
  package var verbs: [Verb] { log.withLock(\.verbs) }

  /// How many bytes each call of a writing verb was given.
  package var written: [Verb: [Int]] { log.withLock(\.written) }

  /// How many bytes of open files were read, by the files' names.
  package var bytesReadInPieces: [String: Int] { log.withLock(\.bytesReadInPieces) }

  /// How many verbs failed or were skipped.
  package var faultCount: Int { log.withLock(\.faultCount) }

  private enum Fate {
    case carryOut, skip
    case fail(errno: CInt, halfWritten: Bool)
  }

  private func fate(of verb: Verb, _ path: String) -> Fate {
    let number = log.withLock { log in
      log.verbs.append(verb)
      return log.verbs.count - 1
    }
    before(number, verb)
    let fate: Fate =
      switch faults {
      case .none: .carryOut
      case .fail(let first, let errno, let lasting, let halfWritten):
        number == first || (lasting && number > first)
          ? .fail(errno: errno, halfWritten: halfWritten) : .carryOut
      case .skip(let skipped): verb == skipped ? .skip : .carryOut
      case .refuse(let refused, let errno):
        verb == refused ? .fail(errno: errno, halfWritten: false) : .carryOut
      case .choose(let choice):
        switch choice(verb, path) {
        case .fail(let errno): .fail(errno: errno, halfWritten: false)
        case .skip: .skip
        case nil: .carryOut
        }
      }
    if case .carryOut = fate { return fate }
    log.withLock { $0.faultCount += 1 }
    return fate
  }

  private func run<Result: ~Copyable>(
    _ verb: Verb, _ path: String, _ body: () throws(DiskError) -> Result
  ) throws(DiskError) -> Result {
    switch fate(of: verb, path) {
    case .carryOut: return try body()
    case .fail(let errno, _): throw DiskError(verb.call, path, errno: errno)
    case .skip: preconditionFailure("\(verb) has a result, so it cannot be skipped")
    }
  }

  private func runOrSkip(
    _ verb: Verb, _ path: String, half: (() throws(DiskError) -> Void)? = nil,
    _ body: () throws(DiskError) -> Void
  ) throws(DiskError) {
    switch fate(of: verb, path) {
    case .carryOut: try body()
    case .skip: break
    case .fail(let errno, let halfWritten):
      if halfWritten { try half?() }
      throw DiskError(verb.call, path, errno: errno)
    }
  }

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    try run(.read, path) { () throws(DiskError) in try base.read(path) }
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    try run(.readPrefix, path) { () throws(DiskError) in try base.readPrefix(path, count: count) }
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    try run(.status, path) { () throws(DiskError) in try base.status(path) }
  }

  package func extent(_ path: String) throws(DiskError) -> FileExtent? {
    try run(.extent, path) { () throws(DiskError) in try base.extent(path) }
  }

  package var machine: String? { base.machine }

  package func identity(ofFolder path: String) throws(DiskError) -> String {
    try run(.status, path) { () throws(DiskError) in try base.identity(ofFolder: path) }
  }

  package func checkRoom(for count: Int, at path: String) throws(DiskError) {
    try base.checkRoom(for: count, at: path)
  }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    try run(.list, folder) { () throws(DiskError) in try base.list(folder) }
  }

  package func resolve(_ path: String) throws(DiskError) -> String {
    try run(.resolve, path) { () throws(DiskError) in try base.resolve(path) }
  }

  package func makeFolder(_ path: String) throws(DiskError) {
    try runOrSkip(.makeFolder, path) { () throws(DiskError) in try base.makeFolder(path) }
  }

  package func create(_ path: String, as file: CreatedFile) throws(DiskError) -> any WritableFile {
    try run(.create, path) { () throws(DiskError) in
      File(disk: self, path: path, base: try base.create(path, as: file))
    }
  }

  package func setMode(_ path: String, _ mode: UInt32) throws(DiskError) {
    try runOrSkip(.setMode, path) { () throws(DiskError) in try base.setMode(path, mode) }
  }

  package func open(_ path: String) throws(DiskError) -> any OpenFile {
    try run(.open, path) { () throws(DiskError) in
      FaultyOpenFile(disk: self, path: path, base: try base.open(path))
    }
  }

  package func makeWatch() throws(DiskError) -> FolderWatch? {
    try run(.makeWatch, "") { () throws(DiskError) in try base.makeWatch() }
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    try runOrSkip(.rename, newPath) { () throws(DiskError) in try base.rename(path, to: newPath) }
  }

  package func rename(_ path: String, toFree newPath: String) throws(DiskError) {
    try runOrSkip(.rename, newPath) { () throws(DiskError) in try base.rename(path, toFree: newPath) }
  }

  package func exchange(_ path: String, with other: String) throws(DiskError) {
    try runOrSkip(.exchange, other) { () throws(DiskError) in try base.exchange(path, with: other) }
  }

  package func link(_ path: String, to newPath: String) throws(DiskError) {
    try runOrSkip(.link, newPath) { () throws(DiskError) in try base.link(path, to: newPath) }
  }

  package func remove(_ path: String) throws(DiskError) {
    try runOrSkip(.remove, path) { () throws(DiskError) in try base.remove(path) }
  }

  package func removeFolder(_ path: String) throws(DiskError) {
    try runOrSkip(.remove, path) { () throws(DiskError) in try base.removeFolder(path) }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    try runOrSkip(.syncFolder, path) { () throws(DiskError) in try base.syncFolder(path) }
  }

  package func tryLock(_ path: String) throws(DiskError) -> FileLock? {
    if case .skip(.lock) = faults {
      if try base.status(path) == nil { _ = try base.create(path, as: .usual) }
      return FileLock {}
    }
    return try run(.lock, path) { () throws(DiskError) in try base.tryLock(path) }
  }

  private final class File: WritableFile {
    private let disk: FaultyDisk
    private let path: String
    private let base: any WritableFile

    init(disk: FaultyDisk, path: String, base: any WritableFile) {
      self.disk = disk
      self.path = path
      self.base = base
    }

    func append(_ bytes: [UInt8]) throws(DiskError) {
      disk.log.withLock { $0.written[.append, default: []].append(bytes.count) }
      try disk.runOrSkip(
        .append, path,
        half: { () throws(DiskError) in try self.base.append(Array(bytes.prefix(bytes.count / 2))) },
        { () throws(DiskError) in try self.base.append(bytes) })
    }

    func sync() throws(DiskError) {
      try disk.runOrSkip(.sync, path) { () throws(DiskError) in try base.sync() }
    }
  }
  private final class FaultyOpenFile: OpenFile {
    private let disk: FaultyDisk
    private let path: String
    private let base: any OpenFile

    init(disk: FaultyDisk, path: String, base: any OpenFile) {
      self.disk = disk
      self.path = path
      self.base = base
    }

    deinit { disk.closing(path) }

    func status() throws(DiskError) -> FileStatus {
      try disk.run(.status, path) { () throws(DiskError) in try base.status() }
    }

    func extent() throws(DiskError) -> FileExtent {
      try disk.run(.extent, path) { () throws(DiskError) in try base.extent() }
    }

    func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8] {
      disk.log.withLock { log in
        let name = path.split(separator: "/").last.map(String.init) ?? path
        log.bytesReadInPieces[name, default: 0] += count
      }
      return try disk.run(.readAt, path) { () throws(DiskError) in try base.read(at: offset, count: count) }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(DiskError) {
      disk.log.withLock { $0.written[.writeAt, default: []].append(bytes.count) }
      try disk.runOrSkip(
        .writeAt, path,
        half: { () throws(DiskError) in
          try self.base.write(Array(bytes.prefix(bytes.count / 2)), at: offset)
        },
        { () throws(DiskError) in try self.base.write(bytes, at: offset) })
    }

    func syncData(_ strength: SyncStrength) throws(DiskError) {
      try disk.runOrSkip(.syncData, path) { () throws(DiskError) in try base.syncData(strength) }
    }
  }
}
