import FileDBEssentials
import FileDBStorage
import FileDBTables

/// The own folder of a store whose folder a service copies between machines. It is not inside the store's folder, but
/// among the user's state on each machine. In the store's folder, a small file in its place says so.
///
/// The identity of the store's folder tells which own folder belongs to it. So a folder that was renamed keeps its own
/// folder, a copy gets another one, and a stranger's file leads nowhere.
struct OutsideFolder: Sendable {
  private let disk: StoreDisk
  /// The store's folder.
  private let store: String
  private let identity: String
  /// The own folder. It need not exist.
  let path: String

  private init(of store: String, on disk: StoreDisk, in state: String?) throws(StoreError) {
    (self.store, self.disk) = (store, disk)
    identity = try disk.identity(ofFolder: store)
    path = "\(state ?? UserState.folder.path)/stores/\(identity)/.filedb"
  }

  /// - Returns: `nil` for a store that has its own folder inside, or none yet.
  /// - Throws: ``StoreError/Code/newerFormat`` if the file in its place is none of FileDB, and the disk's errors.
  static func find(_ store: String, on disk: StoreDisk, in state: String?) throws(StoreError)
    -> OutsideFolder?
  {
    let place = place(in: store)
    guard try disk.status(place)?.kind == .file else { return nil }
    guard try disk.readPrefix(place, count: title.utf8.count).elementsEqual(title.utf8) else {
      throw StoreError(.newerFormat, "FileDB did not make this file", file: place)
    }
    return try OutsideFolder(of: store, on: disk, in: state)
  }

  /// Has the store keep its own folder outside. If it has one inside, the files move.
  /// - Throws: ``StoreError/Code/locked`` if others do not stop writing in time, and the disk's errors.
  static func make(
    _ store: String, on disk: StoreDisk, in state: String?, timeout: Duration
  ) throws(StoreError) -> OutsideFolder {
    if try disk.status(store) == nil { try disk.createFolder(store) }
    let made = try OutsideFolder(of: store, on: disk, in: state)
    if try disk.status(place(in: store))?.kind == .folder {
      do throws(StoreError) { try made.moveIn(timeout) } catch {
        // Another process may have been first.
        guard try find(store, on: disk, in: state) != nil else { throw error }
      }
    } else if try find(store, on: disk, in: state) == nil {
      try disk.replace(place(in: store), with: Array(text.utf8), as: .unlocked)
    }
    try made.removeFormer()
    return made
  }

  /// Whether the store's folder is still there, and still has its own folder outside.
  func isCurrent() throws(StoreError) -> Bool {
    guard try disk.status(Self.place(in: store))?.kind == .file else { return false }
    return try disk.identity(ofFolder: store) == identity
  }

  // MARK: The file

  private static let title = "FileDB keeps the journal of this store outside of this folder"
  private static let text = "\(title), on each machine.\n"

  private static func place(in store: String) -> String { "\(store)/.filedb" }

  /// Where the file is before it has its place, and the former folder afterwards.
  private var former: String { "\(Self.place(in: store))-former" }

  // MARK: Moving

  /// Moves the files of the own folder here. Whoever has the store open finds a file where the folder was.
  private func moveIn(_ timeout: Duration) throws(StoreError) {
    let inside = StoreFolder(path: store, disk: disk)
    guard try disk.status(inside.own(.shared)) == nil else {
      throw StoreError(
        .inputOutput, "the journal of a store that machines share cannot be moved", file: store)
    }
    let checkpoints = try inside.lockCheckpoints(timeout: timeout)
    let lock = try inside.lock(timeout: timeout)
    defer { withExtendedLifetime(checkpoints) { withExtendedLifetime(lock) {} } }
    let mode = try disk.status(inside.ownFolder)?.mode ?? 0o700

    let folder = parentFolder(of: path)
    if try disk.status(folder) != nil {
      // The store had its own folder here before, and somebody removed the file that said so.
      try disk.rename(folder, toFree: "\(folder).\(UInt32.random(in: 0 ... .max))")
    }
    try removeFormer()
    do throws(StoreError) {
      try disk.createFolder(path)
      // A folder above the store may keep other users out. Nothing does so here, so this folder must.
      try disk.setMode(folder, 0o700)
      try disk.setMode(path, mode & 0o777)
      try copyFiles(from: inside.ownFolder, to: path)
      try disk.create(former) { file throws(DiskError) in try file.append(Array(Self.text.utf8)) }
      // From here on, the file is in place, and the former folder no longer counts.
      try exchange(former, with: inside.ownFolder)
    } catch {
      try? removeFiles(in: folder)
      try? removeFormer()
      throw error
    }
  }

  private func exchange(_ file: String, with folder: String) throws(StoreError) {
    do throws(DiskError) { try disk.disk.exchange(file, with: folder) } catch {
      throw error.kind == .unsupported
        ? StoreError(.inputOutput, Self.howToStartOver, file: store) : StoreError(error)
    }
  }

  private static let howToStartOver =
    "this file system cannot exchange two names. Close all programs that use the store, run 'filedb checkpoint', remove "
    + "'.filedb', and try again. The undo log and conflicts that are not settled are gone then"

  /// Removes what a move leaves, or a crash during it.
  private func removeFormer() throws(StoreError) {
    guard let status = try disk.status(former) else { return try disk.remove(former) }  // Perhaps a link to nothing.
    // Until this sync, a power cut may bring the folder back to its place.
    try disk.syncFolder(store)
    try remove(former, status)
  }

  private func copyFiles(from folder: String, to target: String) throws(StoreError) {
    for name in try disk.list(folder) {
      let (old, new) = ("\(folder)/\(name)", "\(target)/\(name)")
      guard let status = try disk.status(old), !status.isLink else { continue }
      switch status.kind {
      case .folder:
        try disk.createFolder(new)
        try copyFiles(from: old, to: new)
      case .file:
        let bytes = try disk.read(old).bytes
        try disk.create(new) { file throws(DiskError) in try file.append(bytes) }
      case .other: break
      }
    }
    try disk.syncFolder(target)
  }

  /// Removes a file, or a folder with all that is in it. A stranger may have put a link here: it goes, and what it leads
  /// to stays.
  private func remove(_ path: String, _ status: FileStatus) throws(StoreError) {
    if status.kind == .folder, !status.isLink { try removeFiles(in: path) } else { try disk.remove(path) }
  }

  /// Others may be doing the same.
  private func removeFiles(in folder: String) throws(StoreError) {
    do throws(StoreError) {
      for name in try disk.list(folder) {
        let path = "\(folder)/\(name)"
        if let status = try disk.status(path) { try remove(path, status) } else { try disk.remove(path) }
      }
      try disk.removeFolder(folder)
    } catch  where error.code == .fileNotFound {}
  }
}
