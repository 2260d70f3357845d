import FileDBStorage
import FileDBTables

/// The disk as a store uses it. Only here do the disk's errors become ``StoreError``s.
package struct StoreDisk: Sendable {
  package let disk: any Disk

  package init(_ disk: any Disk) { self.disk = disk }

  /// A new one each time, because it keeps lock files open for as long as the store exists.
  package static var system: StoreDisk { StoreDisk(SystemDisk()) }

  package func read(_ path: String) throws(StoreError) -> (bytes: [UInt8], stamp: FileStamp) {
    try run { () throws(DiskError) in try disk.read(path) }
  }

  package func readPrefix(_ path: String, count: Int) throws(StoreError) -> [UInt8] {
    try run { () throws(DiskError) in try disk.readPrefix(path, count: count) }
  }

  package func status(_ path: String) throws(StoreError) -> FileStatus? {
    try run { () throws(DiskError) in try disk.status(path) }
  }

  package func list(_ folder: String) throws(StoreError) -> [String] {
    try run { () throws(DiskError) in try disk.list(folder) }
  }

  package func resolve(_ path: String) throws(StoreError) -> String {
    try run { () throws(DiskError) in try disk.resolve(path) }
  }

  package func createFolder(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.createFolder(path) }
  }

  package func setMode(_ path: String, _ mode: UInt32) throws(StoreError) {
    try run { () throws(DiskError) in try disk.setMode(path, mode) }
  }

  /// See ``Disk/makeFolder(_:)``. It is not an error if the folder exists already.
  package func makeFolder(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in
      do throws(DiskError) { try disk.makeFolder(path) } catch  where error.kind == .exists {}
    }
  }

  /// Creates a file with these bytes. A power cut may remove it, or leave it with other bytes.
  package func createUnsynced(_ path: String, _ bytes: [UInt8]) throws(StoreError) {
    try createUnsynced(path) { file throws(DiskError) in try file.append(bytes) }
  }

  /// The same, with the bytes that `write` appends.
  package func createUnsynced(
    _ path: String, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(StoreError) {
    try run { () throws(DiskError) in
      let file = try disk.create(path, as: .usual)
      do throws(DiskError) { try write(file) } catch {
        try? disk.remove(path)
        throw error
      }
    }
  }

  /// See ``Disk/checkRoom(for:at:)``.
  package func checkRoom(for count: Int, at path: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.checkRoom(for: count, at: path) }
  }

  /// Gives a file a second name, or makes a copy if that is impossible. A power cut may remove either.
  package func linkOrCopy(_ path: String, to newPath: String) throws(StoreError) {
    let isLinked = try run { () throws(DiskError) in
      do throws(DiskError) { try disk.link(path, to: newPath) } catch  where error.kind == .unsupported {
        return false
      }
      return true
    }
    if !isLinked { try createUnsynced(newPath, read(path).bytes) }
  }

  package func open(_ path: String) throws(StoreError) -> any OpenFile {
    try run { () throws(DiskError) in try disk.open(path) }
  }

  package func rename(_ path: String, to newPath: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.rename(path, to: newPath) }
  }

  /// See ``Disk/identity(ofFolder:)``.
  package func identity(ofFolder path: String) throws(StoreError) -> String {
    try run { () throws(DiskError) in try disk.identity(ofFolder: path) }
  }

  /// See ``Disk/rename(_:toFree:)``.
  package func rename(_ path: String, toFree newPath: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.rename(path, toFree: newPath) }
  }

  package func removeFolder(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.removeFolder(path) }
  }

  /// Removes a file. It is not an error if the file is gone already.
  package func remove(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in
      do throws(DiskError) { try disk.remove(path) } catch  where error.kind == .notFound {}
    }
  }

  /// See ``Disk/replace(_:with:as:)``. Makes several syncs.
  package func replace(
    _ path: String, with bytes: [UInt8], as kind: Draft.Kind = .locked
  ) throws(StoreError) {
    try run { () throws(DiskError) in _ = try disk.replace(path, with: bytes, as: kind) }
  }

  /// Replaces or creates the file at a path that a user names. After a crash at any point, the file has either all of
  /// the old content or all of the new. If `write` throws, the file is as it was. But a pipe, a device, or a file that
  /// this process has open, such as `/dev/stdout`, is written to, and may get only a part.
  /// - Throws: what `write` throws.
  package func writeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    if let stream = try run({ () throws(DiskError) in try disk.openStream(path) }) {
      return try write { bytes in try run { () throws(DiskError) in try stream.append(bytes) } }
    }
    var failure: (any Error)?
    let staged = try stage(path, as: .unlocked) { file throws(DiskError) in
      do { try write { try file.append($0) } } catch let error as DiskError { throw error } catch {
        failure = error
      }
    }
    if let failure {
      discard([staged])
      throw failure
    }
    for folder in try install([staged]) { try syncFolder(folder) }
  }

  /// See ``Disk/stage(_:as:write:)``. Syncs the draft.
  package func stage(
    _ path: String, as kind: Draft.Kind = .locked, mostOpen: UInt32 = 0o666,
    write: (any WritableFile) throws(DiskError) -> Void
  ) throws(StoreError) -> StagedFile {
    try run { () throws(DiskError) in try disk.stage(path, as: kind, mostOpen: mostOpen, write: write) }
  }

  /// See ``Disk/isCurrent(_:for:)``.
  package func isCurrent(_ staged: StagedFile, for path: String) throws(StoreError) -> Bool {
    try run { () throws(DiskError) in try disk.isCurrent(staged, for: path) }
  }

  package func read(_ staged: StagedFile) throws(StoreError) -> [UInt8] {
    try run { () throws(DiskError) in try disk.read(staged) }
  }

  /// See ``Disk/install(_:)``. The caller syncs the folders that it returns.
  package func install(_ staged: [StagedFile]) throws(StoreError) -> Set<String> {
    try run { () throws(DiskError) in try disk.install(staged) }
  }

  /// See ``Disk/install(_:over:)``. The caller syncs the folder.
  package func install(
    _ staged: StagedFile, over isExpected: (String?) throws(DiskError) -> Bool
  ) throws(StoreError) -> Bool {
    try run { () throws(DiskError) in try disk.install(staged, over: isExpected) }
  }

  /// See ``Disk/remove(_:if:)``. The caller syncs the folder.
  package func remove(
    _ path: String, if isExpected: (String?) throws(DiskError) -> Bool
  ) throws(StoreError) -> Bool {
    try run { () throws(DiskError) in try disk.remove(path, if: isExpected) }
  }

  package func stamps(of installed: [StagedFile]) throws(StoreError) -> [FileStamp] {
    try run { () throws(DiskError) in try disk.stamps(of: installed) }
  }

  package func discard(_ staged: [StagedFile]) { disk.discard(staged) }

  /// Makes the bytes of a file survive a power cut.
  package func syncFile(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.open(path).syncData(.full) }
  }

  /// Makes the names in a folder survive a power cut.
  package func syncFolder(_ path: String) throws(StoreError) {
    try run { () throws(DiskError) in try disk.syncFolder(path) }
  }

  package func sweepDrafts(
    in folder: String, lockedBefore locked: Int64 = .max, unlockedBefore unlocked: Int64 = .min
  ) throws(StoreError) {
    try run { () throws(DiskError) in
      try disk.sweepDrafts(in: folder, lockedBefore: locked, unlockedBefore: unlocked)
    }
  }

  package func swaps(
    in folder: String, changedBefore time: Int64 = .max
  ) throws(StoreError) -> [(path: String, file: String)] {
    try run { () throws(DiskError) in try disk.swaps(in: folder, changedBefore: time) }
  }

  package func lock(_ path: String, until deadline: ContinuousClock.Instant) throws(StoreError) -> FileLock {
    try run { () throws(DiskError) in try disk.lock(path, timeout: max(deadline - .now, .zero)) }
  }

  package func makeWatch() throws(StoreError) -> FolderWatch? {
    try run { () throws(DiskError) in try disk.makeWatch() }
  }

  /// Creates a file with these bytes and syncs it. Its name survives a power cut after its folder is synced.
  package func create(
    _ path: String, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(StoreError) {
    try run { () throws(DiskError) in
      let file = try disk.create(path, as: .usual)
      do throws(DiskError) {
        try write(file)
        try file.sync()
      } catch {
        try? disk.remove(path)
        throw error
      }
    }
  }

  private func run<Result: ~Copyable>(
    _ body: () throws(DiskError) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error) }
  }
}

// MARK: - The journal

extension StoreDisk {
  package func openJournal(
    _ path: String
  ) throws(StoreError) -> (journal: Journal, frames: [JournalFrame])? {
    try run(on: path) { () throws(JournalError) in try Journal.open(path, on: disk) }
  }

  package func isCurrent(_ journal: Journal) throws(StoreError) -> Bool {
    try run { () throws(DiskError) in try journal.isCurrent(on: disk) }
  }

  /// See ``Journal/readOn(on:)``.
  package func readOn(_ journal: inout Journal) throws(StoreError) -> [JournalFrame]? {
    try run(on: journal.path) { () throws(JournalError) in try journal.readOn(on: disk) }
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
    return try run { () throws(DiskError) in
      try Journal.stage(
        path, on: disk, after: sequence, lastToken: lastToken?.text, undoStep: undoStep?.text, salt: salt,
        frames: frames)
    }
  }

  package func salvageJournal(_ bytes: [UInt8], path: String) throws(StoreError) -> JournalSalvage {
    do { return try JournalSalvage(bytes) } catch { throw StoreError(error, path: path) }
  }

  private func run<Result>(
    on path: String, _ body: () throws(JournalError) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch {
      switch error {
      case .disk(let error): throw StoreError(error)
      case .damaged(let damage, let path): throw StoreError(damage, path: path)
      }
    }
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
