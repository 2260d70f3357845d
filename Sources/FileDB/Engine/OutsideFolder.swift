import FileDBEssentials
import FileDBStorage
import FileDBTables

/// The own folder of a store that does not have it in its own place, because a service copies the store's folder between
/// machines: it is in the user's state folder on each machine.
///
/// In its place, the store has a small file with an identity. People copy stores, so several folders on one machine can
/// have the same identity. Each of them has a numbered folder below the identity, with the own folder and a note of
/// which store it belongs to.
struct OutsideFolder {
  private let disk: StoreDisk
  /// The store's folder.
  private let store: String
  /// The folder for all stores of the user.
  private let state: String

  init(of store: String, on disk: StoreDisk, in state: String?) {
    (self.store, self.disk) = (store, disk)
    self.state = "\(state ?? UserState.folder.path)/stores"
  }

  private var place: String { "\(store)/.filedb" }

  /// The own folder, and the file that says which store this is.
  struct Found: Sendable {
    let folder: String
    fileprivate let identity: String
    fileprivate let stamp: FileStamp
  }

  /// The own folder of the store; `nil` if it is inside the store's folder, or not there yet.
  /// - Throws: ``StoreError/Code/newerFormat`` if the file in its place is none of FileDB, and the disk's errors.
  func find() throws(StoreError) -> Found? {
    guard let status = try disk.status(place), status.kind == .file else { return nil }
    let identity = try identity(in: place)
    return Found(folder: try entry(identity).folder, identity: identity, stamp: status.stamp)
  }

  /// Whether this is still the own folder. A service may have brought the file of another machine, which somebody made
  /// before this machine's file arrived there.
  func isCurrent(_ found: Found) throws(StoreError) -> Bool {
    guard let status = try disk.status(place) else { return false }
    if status.stamp == found.stamp { return true }
    return try identity(in: place) == found.identity
  }

  private func entry(_ identity: String) throws(StoreError) -> Entry {
    let (stores, here) = ("\(state)/\(identity)", try location())
    if let own = try entries(in: stores).first(where: { $0.location.path == here.path }) { return own }

    // This folder is new here: it was moved, copied, or brought by a service.
    try disk.createFolder(stores)
    try disk.setMode(stores, 0o700)
    let lock = try disk.lock("\(stores)/lock", until: .now + .seconds(5))
    defer { withExtendedLifetime(lock) {} }
    let entries = try entries(in: stores)
    if let own = entries.first(where: { $0.location.path == here.path }) { return own }
    if let moved = entries.first(where: { $0.location.isSameFolder(as: here) }) {
      try write(here, to: moved.file)
      return moved
    }
    let new = Entry(in: stores, number: (entries.map(\.number).max() ?? 0) + 1, location: here)
    try disk.createFolder(new.folder)
    if let former = try former(than: here, identity, entries) {
      let lock = try disk.lock("\(former.folder)/\(OwnName.lock.rawValue)", until: .now + .seconds(5))
      defer { withExtendedLifetime(lock) {} }
      try copyFiles(from: former.folder, to: new.folder)
    }
    try write(here, to: new.file)
    return new
  }

  /// The own folder that the store had before. Commits may wait there, so the new one begins as a copy.
  private func former(
    than here: Location, _ identity: String, _ entries: [Entry]
  ) throws(StoreError) -> Entry? {
    // Perhaps the store was moved from another disk.
    if let gone = entries.first(where: { !isThere($0, identity) }) { return gone }
    // Perhaps another machine's file has replaced this one's.
    for other in try disk.list(state) where CommitToken(text: other) != nil {
      if let same = try self.entries(in: "\(state)/\(other)").first(where: { $0.location == here }) {
        return same
      }
    }
    return nil
  }

  /// Puts the store's own folder among the user's state. If the store has one inside, that one moves there.
  func make() throws(StoreError) -> Found? {
    if let found = try find() { return found }
    try disk.createFolder(store)
    let identity = CommitToken.random().text
    let file = "\(place)-\(identity)"
    try write(identity, to: file)
    do throws(StoreError) {
      if try disk.status(place)?.kind == .folder {
        try moveOut(to: Entry(in: "\(state)/\(identity)", number: 1, location: location()), leaving: file)
      } else {
        try disk.rename(file, toFree: place)
        try disk.syncFolder(store)
      }
    } catch {
      try? disk.remove(file)
      // Another process may have been first.
      if let found = try find() { return found }
      try? removeFiles(in: "\(state)/\(identity)")
      throw error
    }
    return try find()
  }

  // MARK: Moving

  /// Moves the files of the own folder. Whoever has the store open has an error at the next look.
  private func moveOut(to new: Entry, leaving file: String) throws(StoreError) {
    let inside = StoreFolder(path: store, disk: disk)
    guard try disk.status(inside.own(.shared)) == nil else {
      throw StoreError(
        .inputOutput, "the folder of a store that machines share keeps '.filedb' inside", file: store)
    }
    let checkpoints = try inside.lockCheckpoints(timeout: .seconds(5))
    let lock = try inside.lock(timeout: .seconds(5))
    defer { withExtendedLifetime(checkpoints) { withExtendedLifetime(lock) {} } }
    try disk.createFolder(new.folder)
    try disk.setMode(parentFolder(of: new.file), 0o700)
    try copyFiles(from: place, to: new.folder)
    try write(new.location, to: new.file)
    // From here on, the file counts, and the folder has its name.
    do throws(DiskError) { try disk.disk.exchange(file, with: place) } catch {
      throw error.kind == .unsupported
        ? StoreError(.inputOutput, Self.howToStartOver, file: store) : StoreError(error)
    }
    try disk.syncFolder(store)
    try removeFiles(in: file)
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

  private func removeFiles(in folder: String) throws(StoreError) {
    for name in try disk.list(folder) {
      let path = "\(folder)/\(name)"
      if let status = try disk.status(path), status.kind == .folder, !status.isLink {
        try removeFiles(in: path)
      } else {
        try disk.remove(path)
      }
    }
    try disk.removeFolder(folder)
  }

  // MARK: The files

  private static let howToStartOver =
    "this file system cannot exchange two names. To begin with an empty undo log, run 'filedb checkpoint', and remove "
    + "'.filedb'"
  private static let explanation =
    "FileDB keeps the journal of this store outside of this folder, on each machine."

  private func write(_ identity: String, to file: String) throws(StoreError) {
    let text = "\(Self.explanation)\nstore \(identity)\n"
    try disk.create(file) { file throws(DiskError) in try file.append(Array(text.utf8)) }
  }

  /// A stranger may have written the file.
  private func identity(in file: String) throws(StoreError) -> String {
    let text = String(decoding: try disk.readPrefix(file, count: 1 << 10), as: UTF8.self)
    let word = text.parts(between: "\n").first { $0.hasPrefix("store ") }?.dropFirst(6)
    guard let identity = word.flatMap({ CommitToken(text: $0) })?.text else {
      throw StoreError(.newerFormat, "this file does not say which store this is", file: file)
    }
    return identity
  }

  private struct Location: Equatable {
    let path: String
    let device: UInt64
    let inode: UInt64

    func isSameFolder(as other: Location) -> Bool { device == other.device && inode == other.inode }
  }

  private struct Entry {
    let number: Int
    let location: Location
    let folder: String
    /// The note of which store it belongs to.
    let file: String

    init(in stores: String, number: Int, location: Location) {
      (self.number, self.location) = (number, location)
      folder = "\(stores)/\(number)/.filedb"
      file = "\(stores)/\(number)/store"
    }
  }

  private func location() throws(StoreError) -> Location {
    let path = try disk.resolve(store)
    guard let stamp = try disk.status(path)?.stamp else {
      throw StoreError(.fileNotFound, "there is no such folder", file: path)
    }
    return Location(path: path, device: stamp.device, inode: stamp.inode)
  }

  private func entries(in stores: String) throws(StoreError) -> [Entry] {
    guard try disk.status(stores) != nil else { return [] }
    var entries: [Entry] = []
    for number in try disk.list(stores).compactMap(Int.init).sorted() {
      let file = "\(stores)/\(number)/store"
      guard try disk.status(file) != nil else { continue }  // Its maker was killed.
      let text = String(decoding: try disk.read(file).bytes, as: UTF8.self)
      let lines = text.split(separator: "\n", maxSplits: 2)
      guard lines.count == 3, let device = UInt64(lines[0]), let inode = UInt64(lines[1]) else { continue }
      let location = Location(path: String(lines[2]), device: device, inode: inode)
      entries.append(Entry(in: stores, number: number, location: location))
    }
    return entries
  }

  private func write(_ location: Location, to file: String) throws(StoreError) {
    try disk.replace(file, with: Array("\(location.device)\n\(location.inode)\n\(location.path)".utf8))
  }

  private func isThere(_ entry: Entry, _ identity: String) -> Bool {
    (try? self.identity(in: "\(entry.location.path)/.filedb")) == identity
  }
}

extension RecordStore {
  /// Where the store has its journal, its locks, its undo log and its backups; see ``OwnFolderPlace``.
  /// - Throws: ``StoreError/Code/notAFolder`` for a store without files.
  public var ownFolder: URL {
    get throws { URL(fileURLWithPath: try (visibleFolder ?? folder).ownFolder, isDirectory: true) }
  }

  /// Whether the folder is this machine's copy of a store that several machines share. A folder that cannot be read is
  /// none; opening it says why.
  package static func isFolderOfSharedStore(_ url: URL) -> Bool {
    let folder = try? StoreFolder.find(url.standardizedFileURL.path)
    return folder.flatMap { try? $0.disk.status($0.own(.shared)) } != nil
  }
}
