import FileDBStorage
import FileDBTables

/// Makes a call of the disk, and turns its errors into ``StoreError``s.
func onDisk<Result: ~Copyable>(
  _ call: @autoclosure () throws(DiskError) -> Result
) throws(StoreError) -> Result {
  do { return try call() } catch { throw StoreError(error) }
}

/// The disk as a store uses it. What is not explained here is explained at ``Disk``.
package struct StoreDisk: Sendable {
  package let disk: any Disk

  package init(_ disk: any Disk) { self.disk = disk }

  /// A new one each time, because it keeps lock files open for as long as the store exists.
  package static var system: StoreDisk { StoreDisk(SystemDisk()) }

  package func read(_ path: String) throws(StoreError) -> (bytes: [UInt8], stamp: FileStamp) {
    try onDisk(disk.read(path))
  }
  package func readPrefix(_ path: String, count: Int) throws(StoreError) -> [UInt8] {
    try onDisk(disk.readPrefix(path, count: count))
  }
  package func status(_ path: String) throws(StoreError) -> FileStatus? { try onDisk(disk.status(path)) }
  package func list(_ folder: String) throws(StoreError) -> [String] { try onDisk(disk.list(folder)) }
  package func resolve(_ path: String) throws(StoreError) -> String { try onDisk(disk.resolve(path)) }
  package func open(_ path: String) throws(StoreError) -> any OpenFile { try onDisk(disk.open(path)) }
  package func identity(ofFolder path: String) throws(StoreError) -> String {
    try onDisk(disk.identity(ofFolder: path))
  }
  package func checkRoom(for count: Int, at path: String) throws(StoreError) {
    try onDisk(disk.checkRoom(for: count, at: path))
  }
  package func makeWatch() throws(StoreError) -> FolderWatch? { try onDisk(disk.makeWatch()) }

  package func lock(_ path: String, until deadline: ContinuousClock.Instant) throws(StoreError) -> FileLock {
    try onDisk(disk.lock(path, timeout: max(deadline - .now, .zero)))
  }

  // MARK: Changing names

  package func createFolder(_ path: String) throws(StoreError) { try onDisk(disk.createFolder(path)) }
  package func setMode(_ path: String, _ mode: UInt32) throws(StoreError) {
    try onDisk(disk.setMode(path, mode))
  }
  package func rename(_ path: String, to newPath: String) throws(StoreError) {
    try onDisk(disk.rename(path, to: newPath))
  }
  package func rename(_ path: String, toFree newPath: String) throws(StoreError) {
    try onDisk(disk.rename(path, toFree: newPath))
  }
  package func removeFolder(_ path: String) throws(StoreError) { try onDisk(disk.removeFolder(path)) }

  /// Makes the names in a folder survive a power cut.
  package func syncFolder(_ path: String) throws(StoreError) { try onDisk(disk.syncFolder(path)) }

  /// See ``Disk/makeFolder(_:)``. It is not an error if the folder exists already.
  package func makeFolder(_ path: String) throws(StoreError) {
    do { try disk.makeFolder(path) } catch { if error.kind != .exists { throw StoreError(error) } }
  }

  /// Removes a file. It is not an error if the file is gone already.
  package func remove(_ path: String) throws(StoreError) {
    do { try disk.remove(path) } catch { if error.kind != .notFound { throw StoreError(error) } }
  }

  /// Gives a file a second name, or makes a copy if that is impossible. A power cut may remove either.
  package func linkOrCopy(_ path: String, to newPath: String) throws(StoreError) {
    do { try disk.link(path, to: newPath) } catch {
      guard error.kind == .unsupported else { throw StoreError(error) }
      try createUnsynced(newPath, [read(path).bytes])
    }
  }

  // MARK: Writing

  /// Creates a file with these bytes. A power cut may remove it, or leave it with other bytes.
  /// - Parameter pieces: the file's bytes.
  package func createUnsynced(_ path: String, _ pieces: [[UInt8]]) throws(StoreError) {
    try onDisk(
      disk.create(path) { file throws(DiskError) in
        for piece in pieces { try file.append(piece) }
      })
  }

  /// Creates a file with the bytes that `write` appends, and syncs it. Its name survives a power cut after its folder is
  /// synced.
  package func create(
    _ path: String, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(StoreError) {
    try onDisk(
      disk.create(path) { file throws(DiskError) in
        try write(file)
        try file.sync()
      })
  }

  /// Makes the bytes of a file survive a power cut.
  package func syncFile(_ path: String) throws(StoreError) { try onDisk(disk.open(path).syncData(.full)) }

  /// Makes several syncs.
  package func replace(
    _ path: String, with bytes: [UInt8], as kind: Draft.Kind = .locked
  ) throws(StoreError) {
    _ = try onDisk(disk.replace(path, with: bytes, as: kind))
  }

  /// Replaces or creates the file at a path that a user names. After a crash at any point, the file has either all of
  /// the old content or all of the new. If `write` throws, the file is as it was. But a pipe, a device, or a file that
  /// this process has open, such as `/dev/stdout`, is written to, and may get only a part.
  /// - Throws: what `write` throws.
  package func writeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    if let stream = try onDisk(disk.openStream(path)) {
      return try write { bytes in try onDisk(stream.append(bytes)) }
    }
    var failure: (any Error)?
    let staged = try stage(path, as: .unlocked) { file throws(DiskError) in
      do { try write { try file.append($0) } } catch let error as DiskError { throw error } catch {
        failure = error
      }
    }
    if let failure {
      discard(staged)
      throw failure
    }
    try syncFolder(install(staged))
  }

  // MARK: Drafts

  /// Syncs the draft.
  package func stage(
    _ path: String, as kind: Draft.Kind = .locked, mostOpen: UInt32 = 0o666,
    write: (any WritableFile) throws(DiskError) -> Void
  ) throws(StoreError) -> StagedFile {
    try onDisk(disk.stage(path, as: kind, mostOpen: mostOpen, write: write))
  }

  package func isCurrent(_ staged: StagedFile, for path: String) throws(StoreError) -> Bool {
    try onDisk(disk.isCurrent(staged, for: path))
  }
  package func read(_ staged: StagedFile) throws(StoreError) -> [UInt8] { try onDisk(disk.read(staged)) }

  /// The caller syncs the folder that it returns.
  package func install(_ staged: StagedFile) throws(StoreError) -> String {
    try onDisk(disk.install(staged))
  }

  /// The caller syncs the folder.
  package func install(
    _ staged: StagedFile, over isExpected: (String?) throws(DiskError) -> Bool
  ) throws(StoreError) -> Bool {
    try onDisk(disk.install(staged, over: isExpected))
  }

  /// The caller syncs the folder.
  package func remove(
    _ path: String, if isExpected: (String?) throws(DiskError) -> Bool
  ) throws(StoreError) -> Bool {
    try onDisk(disk.remove(path, if: isExpected))
  }

  package func discard(_ staged: StagedFile) { disk.discard(staged) }

  package func sweepDrafts(
    in folder: String, lockedBefore locked: Int64 = .max, unlockedBefore unlocked: Int64 = .min
  ) throws(StoreError) {
    try onDisk(disk.sweepDrafts(in: folder, lockedBefore: locked, unlockedBefore: unlocked))
  }

  package func swaps(
    in folder: String, changedBefore time: Int64 = .max
  ) throws(StoreError) -> [(path: String, file: String)] {
    try onDisk(disk.swaps(in: folder, changedBefore: time))
  }
}

extension Disk {
  /// Creates a file with what `write` appends. If that fails, there is no file.
  fileprivate func create(
    _ path: String, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(DiskError) {
    let file = try create(path, as: .usual)
    do throws(DiskError) { try write(file) } catch {
      try? remove(path)
      throw error
    }
  }
}

// MARK: - The journal

extension StoreDisk {
  package func openJournal(
    _ path: String
  ) throws(StoreError) -> (journal: Journal, frames: [JournalFrame])? {
    do { return try Journal.open(path, on: disk) } catch { throw StoreError(error) }
  }

  package func isCurrent(_ journal: Journal) throws(StoreError) -> Bool {
    try onDisk(journal.isCurrent(on: disk))
  }

  /// See ``Journal/readOn(on:)``.
  package func readOn(_ journal: inout Journal) throws(StoreError) -> [JournalFrame]? {
    do { return try journal.readOn(on: disk) } catch { throw StoreError(error) }
  }

  /// See ``Journal/stage(_:on:after:lastToken:undoStep:salt:frames:)``. Syncs the draft.
  /// - Throws: ``StoreError/Code/unrepresentableValue`` if a commit would get too high a number.
  package func stageJournal(
    _ path: String, after sequence: UInt64, lastToken: CommitToken? = nil, undoStep: CommitToken? = nil,
    salt: UInt32 = .random(in: 1 ... .max), frames: [(kind: JournalFrame.Kind, payload: [UInt8])] = []
  ) throws(StoreError) -> StagedFile {
    let commitCount = UInt64(frames.count { $0.kind == .commit })
    guard sequence <= JournalFrame.highestSequence, sequence + commitCount <= JournalFrame.highestSequence
    else {
      throw StoreError(
        .unrepresentableValue, "commit \(sequence) has a higher number than a journal can hold", file: path)
    }
    return try onDisk(
      Journal.stage(
        path, on: disk, after: sequence, lastToken: lastToken?.text, undoStep: undoStep?.text, salt: salt,
        frames: frames))
  }

  package func salvageJournal(_ bytes: [UInt8], path: String) throws(StoreError) -> JournalSalvage {
    do { return try JournalSalvage(bytes) } catch { throw StoreError(error, path: path) }
  }
}

// MARK: - The errors

extension StoreError {
  package init(_ error: DiskError) {
    let code: Code =
      switch error.kind {
      case .notFound: StoreError.Code.fileNotFound
      case .permissionDenied, .readOnly: StoreError.Code.permissionDenied
      case .full: StoreError.Code.diskFull
      case .timedOut: StoreError.Code.locked
      case .exists, .linkLoop, .isFolder, .unsupported, .other: StoreError.Code.inputOutput
      }
    let message =
      error.kind == .timedOut
      ? "another writer has the store locked; it did not finish in time"
      : "\(error.call): \(error.reason)"
    self.init(code, message, file: error.path)
    errno = error.errno
  }

  /// A sync failed. The system reports this once and may have dropped the bytes, so nobody can tell what a power cut
  /// would leave.
  static func outcomeUnknown(_ error: DiskError) -> StoreError {
    let cause = StoreError(error)
    var result = StoreError(
      .outcomeUnknown,
      "\(cause.message); the commit may not survive a power cut, and the store accepts no more writes",
      file: error.path)
    result.errno = error.errno
    return result
  }

  static func closed(_ folder: String) -> StoreError {
    StoreError(.closed, "the store accepts no more writes; open it again", file: folder)
  }

  fileprivate init(_ error: JournalError) {
    switch error {
    case .disk(let error): self.init(error)
    case .damaged(let damage, let path): self.init(damage, path: path)
    }
  }

  fileprivate init(_ damage: JournalDamage, path: String) {
    let what =
      switch damage.reason {
      case .noStart: "this is not a journal"
      case .unknownFormat(let text): "another version of FileDB made this journal: '\(text)'"
      case .cutOff(let length): "the journal was cut off after \(length) bytes"
      case .changed: "the journal is damaged"
      case .outOfOrder: "a commit of the journal is out of order"
      case .missing: "a commit is gone from the journal"
      }
    var code = StoreError.Code.damagedJournal
    if case .unknownFormat = damage.reason { code = StoreError.Code.newerFormat }
    self.init(code, "\(what) (byte \(damage.offset))", file: path)
  }
}
