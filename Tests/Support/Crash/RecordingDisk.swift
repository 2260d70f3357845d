import FileDBStorage
import Foundation
import Synchronization

/// A disk that writes down everything a power cut may undo, in order, and hands it on to another disk.
///
/// It can also leave out one call that makes something durable, at every place where the program makes it, or fail one:
/// what is then wrong with the program must show in what a power cut leaves; see ``CrashStates``.
package final class RecordingDisk: Disk {
  /// What goes wrong, on purpose.
  package struct Meddling: Sendable, CustomStringConvertible {
    /// This call seems to succeed and is never made.
    package var omitted: DurabilitySite?
    /// This sync fails, the first time that the program comes by.
    package var failed: DurabilitySite?
    /// The process dies after so many events: nothing more happens until ``RecordingDisk/restart()``. What it wrote is
    /// there for the next process to read, and durable or not.
    package var killedAfter: Int?

    package init(omitted: DurabilitySite? = nil, failed: DurabilitySite? = nil, killedAfter: Int? = nil) {
      self.omitted = omitted
      self.failed = failed
      self.killedAfter = killedAfter
    }

    package var description: String {
      [
        omitted.map { "without the \($0)" }, failed.map { "with a failed \($0)" },
        killedAfter.map { "with a process killed after operation \($0)" },
      ].compactMap(\.self).joined(separator: ", ")
    }
  }

  private struct Log {
    var events: [DiskEvent] = []
    var sites: Set<DurabilitySite> = []
    var files: [String: Int] = [:]
    var sizes: [Int: Int] = [:]
    /// What was last done to each file and folder since it was synced.
    var causes: [String: String] = [:]
    /// How many events there were when a sync failed or the process died.
    var failure: Int?
    var isDead = false

    mutating func newFile(_ path: String) -> Int {
      let file = sizes.count
      files[path] = file
      sizes[file] = 0
      return file
    }
  }

  /// What was on the disk before the first event.
  package let before: DiskImage
  /// The disk without what is done to it here.
  package let base: any Disk
  private let storeFolder: String
  private let meddling: Meddling
  private let log: Mutex<Log>

  package convenience init(_ before: DiskImage, storeFolder: String, meddling: Meddling = Meddling()) {
    self.init(over: MemoryDisk(before), holding: before, storeFolder: storeFolder, meddling: meddling)
  }

  /// - Parameter image: the files that are on `base` already, as far as the program will touch them.
  package init(
    over base: any Disk, holding image: DiskImage, storeFolder: String, meddling: Meddling = Meddling()
  ) {
    self.base = base
    self.before = image
    self.storeFolder = storeFolder
    self.meddling = meddling
    var log = Log()
    for (path, bytes) in image.files.sorted(by: { $0.key < $1.key }) {
      log.sizes[log.newFile(path)] = bytes.count
    }
    self.log = Mutex(log)
  }

  package var events: [DiskEvent] { log.withLock(\.events) }

  /// Every site that was passed.
  package var sites: Set<DurabilitySite> { log.withLock(\.sites) }

  /// How many events there were when the sync failed or the process died; `nil` if it did not come to that.
  package var failure: Int? { log.withLock(\.failure) }

  /// Brings up a new process where one died.
  func restart() {
    log.withLock { log in
      log.isDead = false
      log.causes = [:]  // The new process does not know what the other had yet to sync.
    }
  }

  private func checkAlive(_ path: String) throws(DiskError) {
    let isDead = log.withLock { log in
      if let count = meddling.killedAfter, log.events.count >= count, log.failure == nil {
        log.failure = log.events.count
        log.isDead = true
      }
      return log.isDead
    }
    if isDead { throw DiskError("killed", path, errno: EINTR) }
  }

  /// Replaces a file as another program does, which syncs the file or nothing, and never its name. These are none of
  /// the calls that the store makes.
  package func save(_ bytes: [UInt8], to path: String, by care: Editor.Care) throws(DiskError) {
    _ = try base.replace(path, with: bytes)
    log.withLock { log in
      let draft = "\(parentFolder(of: path))/.\(fileName(of: path))~"
      let file = log.newFile(draft)
      log.sizes[file] = bytes.count
      log.events += [.create(file: file, draft), .write(file: file, offset: 0, bytes)]
      if care != .syncsNothing { log.events.append(.sync(file: file)) }
      log.files[draft] = nil
      log.files[path] = file
      log.events.append(.rename(file: file, from: draft, to: path))
      if care == .syncsAll { log.events.append(.syncFolder(parentFolder(of: path))) }
    }
  }

  /// For the marks of the program's own progress.
  package func note(_ event: DiskEvent) { log.withLock { $0.events.append(event) } }

  private enum Fate { case carryOut, omit, fail }

  private func fate(of call: DurabilitySite.Call, _ path: String) -> Fate {
    log.withLock { log in
      let subject = subject(of: path, storeFolder: storeFolder)
      let cause = call.isSync ? log.causes.removeValue(forKey: path) ?? "nothing new" : ""
      let site = DurabilitySite(call, subject, after: cause)
      log.sites.insert(site)
      if site == meddling.omitted { return .omit }
      if site == meddling.failed, log.failure == nil {
        log.failure = log.events.count
        return .fail
      }
      return .carryOut
    }
  }

  private func noteCause(_ change: String, of path: String) {
    let subject = subject(of: path, storeFolder: storeFolder)
    log.withLock { $0.causes[parentFolder(of: path)] = "\(change) of the \(subject)" }
  }

  // MARK: Names

  package func makeFolder(_ path: String) throws(DiskError) {
    try checkAlive(path)
    try base.makeFolder(path)
    note(.makeFolder(path))
    noteCause("making", of: path)
  }

  package func create(_ path: String, as file: CreatedFile) throws(DiskError) -> any WritableFile {
    try checkAlive(path)
    let created = try base.create(path, as: file)
    return Handle(disk: self, number: noteNewFile(path), path: path, writable: created, open: nil)
  }

  package func setMode(_ path: String, _ mode: UInt32) throws(DiskError) {
    try checkAlive(path)
    try base.setMode(path, mode)
  }

  private func noteNewFile(_ path: String) -> Int {
    noteCause("making", of: path)
    return log.withLock { log in
      let file = log.newFile(path)
      log.events.append(.create(file: file, path))
      return file
    }
  }

  package func open(_ path: String) throws(DiskError) -> any OpenFile {
    try checkAlive(path)
    let file = try base.open(path)
    let number = log.withLock { $0.files[path] }
    guard let number else { preconditionFailure("\(path) was made behind the recording disk's back") }
    return Handle(disk: self, number: number, path: path, writable: nil, open: file)
  }

  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    try rename(path, to: newPath) { () throws(DiskError) in try base.rename(path, to: newPath) }
  }

  package func rename(_ path: String, toFree newPath: String) throws(DiskError) {
    try rename(path, to: newPath) { () throws(DiskError) in try base.rename(path, toFree: newPath) }
  }

  private func rename(
    _ path: String, to newPath: String, _ body: () throws(DiskError) -> Void
  ) throws(DiskError) {
    try checkAlive(path)
    guard case .carryOut = fate(of: .rename, newPath) else { return }
    try body()
    noteCause("rename", of: newPath)
    log.withLock { log in
      guard let file = log.files.removeValue(forKey: path) else { return }
      log.files[newPath] = file
      log.events.append(.rename(file: file, from: path, to: newPath))
    }
  }

  package func exchange(_ path: String, with other: String) throws(DiskError) {
    try checkAlive(path)
    guard case .carryOut = fate(of: .exchange, other) else { return }
    try base.exchange(path, with: other)
    noteCause("exchange", of: other)
    log.withLock { log in
      guard let (first, second) = log.files[path].flatMap({ first in log.files[other].map { (first, $0) } })
      else { return }
      (log.files[path], log.files[other]) = (second, first)
      log.events.append(.exchange(file: first, path, with: second, other))
    }
  }

  package func link(_ path: String, to newPath: String) throws(DiskError) {
    try checkAlive(path)
    try base.link(path, to: newPath)
    noteCause("linking", of: newPath)
    log.withLock { log in
      guard let file = log.files[path] else { return }
      log.files[newPath] = file
      log.events.append(.link(file: file, from: path, to: newPath))
    }
  }

  /// No write of a store removes a folder.
  package func removeFolder(_ path: String) throws(DiskError) {
    preconditionFailure("the crash tests know of no removed folders")
  }

  package func remove(_ path: String) throws(DiskError) {
    try checkAlive(path)
    guard case .carryOut = fate(of: .remove, path) else { return }
    try base.remove(path)
    noteCause("removal", of: path)
    log.withLock { log in
      guard let file = log.files.removeValue(forKey: path) else { return }
      log.events.append(.remove(file: file, path))
    }
  }

  package func syncFolder(_ path: String) throws(DiskError) {
    try checkAlive(path)
    switch fate(of: .syncFolder, path) {
    case .omit: return
    case .fail: throw DiskError("fsync", path, errno: EIO)
    case .carryOut:
      try base.syncFolder(path)
      note(.syncFolder(path))
    }
  }

  package func tryLock(_ path: String) throws(DiskError) -> FileLock? {
    try checkAlive(path)
    let isNew = try base.status(path) == nil
    let lock = try base.tryLock(path)
    if isNew { _ = noteNewFile(path) }
    return lock
  }

  // MARK: Reading

  package func read(_ path: String) throws(DiskError) -> (bytes: [UInt8], stamp: FileStamp) {
    try checkAlive(path)
    return try base.read(path)
  }

  package func readPrefix(_ path: String, count: Int) throws(DiskError) -> [UInt8] {
    try checkAlive(path)
    return try base.readPrefix(path, count: count)
  }

  package func status(_ path: String) throws(DiskError) -> FileStatus? {
    try checkAlive(path)
    return try base.status(path)
  }

  package func list(_ folder: String) throws(DiskError) -> [String] {
    try checkAlive(folder)
    return try base.list(folder)
  }

  package func resolve(_ path: String) throws(DiskError) -> String {
    try checkAlive(path)
    return try base.resolve(path)
  }

  // MARK: Bytes

  private final class Handle: WritableFile, OpenFile {
    private let disk: RecordingDisk
    private let number: Int
    private let path: String
    private let writable: (any WritableFile)?
    private let open: (any OpenFile)?

    init(
      disk: RecordingDisk, number: Int, path: String, writable: (any WritableFile)?, open: (any OpenFile)?
    ) {
      self.disk = disk
      self.number = number
      self.path = path
      self.writable = writable
      self.open = open
    }

    func append(_ bytes: [UInt8]) throws(DiskError) {
      try disk.checkAlive(path)
      try writable!.append(bytes)
      noteWrite(bytes, at: nil)
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(DiskError) {
      try disk.checkAlive(path)
      try open!.write(bytes, at: offset)
      noteWrite(bytes, at: offset)
    }

    private func noteWrite(_ bytes: [UInt8], at offset: Int?) {
      disk.log.withLock { log in
        let offset = offset ?? log.sizes[number, default: 0]
        log.sizes[number] = max(log.sizes[number, default: 0], offset + bytes.count)
        log.events.append(.write(file: number, offset: offset, bytes))
        guard path.hasSuffix("/journal") else {
          log.causes[path] = "writing it"
          return
        }
        // The journal's frames begin with a word that says what they are; what has none is the rest of one.
        let word = String(decoding: bytes.prefix { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
        let isFrame = JournalFrame.Kind(rawValue: word) != nil
        if isFrame || bytes.first == 0 { log.causes[path] = "writing \(isFrame ? word : "zeros")" }
      }
    }

    func sync() throws(DiskError) {
      try sync(.sync) { () throws(DiskError) in try self.writable!.sync() }
    }

    func syncData(_ strength: SyncStrength) throws(DiskError) {
      try sync(.syncData) { () throws(DiskError) in try self.open!.syncData(strength) }
    }

    private func sync(_ call: DurabilitySite.Call, _ body: () throws(DiskError) -> Void) throws(DiskError) {
      switch disk.fate(of: call, path) {
      case .omit: return
      case .fail:
        disk.note(.failedSync(file: number))
        throw DiskError(call == .syncData ? "fdatasync" : "fsync", path, errno: EIO)
      case .carryOut:
        try body()
        disk.note(.sync(file: number))
      }
    }

    func status() throws(DiskError) -> FileStatus {
      try disk.checkAlive(path)
      return try open!.status()
    }

    func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8] {
      try disk.checkAlive(path)
      return try open!.read(at: offset, count: count)
    }
  }
}
