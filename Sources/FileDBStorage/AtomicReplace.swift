/// The next content of a file, whole and synced under another name, until it takes the file's place.
package struct StagedFile: Sendable {
  /// The file that it will replace, with all links followed.
  package let target: String
  fileprivate let draft: String
  fileprivate let stamp: FileStamp?
}

extension Disk {
  /// Replaces the content of the file at `path`, or makes it: after a crash at any point there is either the old
  /// content or the new, whole.
  ///
  /// Mode and owner stay; where `path` is a symbolic link, the link stays and its target is replaced, or made where
  /// it is missing.
  /// - Returns: the stamp of the new file.
  /// - Throws: `notFound` where the folder is missing, `isFolder` and `other` where `path` is no file.
  package func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> FileStamp {
    let staged = [try stage(bytes, for: path)]
    for folder in try install(staged) { try syncFolder(folder) }
    return try stamps(of: staged)[0]
  }

  /// The first half of ``replace(_:with:)``: whatever can go wrong with the bytes goes wrong here, with the file as it
  /// was.
  package func stage(_ bytes: [UInt8], for path: String) throws(DiskError) -> StagedFile {
    try stage(path) { file throws(DiskError) in try file.append(bytes) }
  }

  /// The same with what `write` appends, piece by piece.
  package func stage(
    _ path: String, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(DiskError) -> StagedFile {
    let target = try resolve(path)
    let old = try status(target)
    if let old, old.kind != .file { throw .notAFile("rename", target, old.kind) }
    let draft = "\(parentFolder(of: target))/\(Draft.name(for: fileName(of: target)))"
    do {
      let file = try create(draft, like: old)
      try write(file)
      try file.sync()  // Before the rename: else a power cut may leave the new name on an empty file.
      return StagedFile(target: target, draft: draft, stamp: try status(draft)?.stamp)
    } catch {
      // The first error is the one to report, and a draft left behind is swept later.
      try? remove(draft)
      throw error
    }
  }

  /// The second half: gives each draft its file's name.
  /// - Returns: the folders that must be synced before the names survive a power cut.
  package func install(_ staged: [StagedFile]) throws(DiskError) -> Set<String> {
    for (position, file) in staged.enumerated() {
      do {
        try rename(file.draft, to: file.target)
      } catch {
        discard(Array(staged[position...]))
        throw error
      }
    }
    return Set(staged.map { parentFolder(of: $0.target) })
  }

  /// The stamps of files that were just installed.
  package func stamps(of installed: [StagedFile]) throws(DiskError) -> [FileStamp] {
    var stamps: [FileStamp] = []
    for file in installed {
      guard var stamp = try status(file.target)?.stamp else { throw .missing("stat", file.target) }
      // The time is our own if its last digits show that the file system keeps them, and the file is still ours.
      stamp.isSettled =
        stamp.inode == file.stamp?.inode && stamp.size == file.stamp?.size
        && stamp.modified == file.stamp?.modified && stamp.modified % 1_000_000 != 0
      stamps.append(stamp)
    }
    return stamps
  }

  /// Removes drafts that will not be installed.
  package func discard(_ staged: [StagedFile]) {
    for file in staged { try? remove(file.draft) }
  }

  /// Makes a folder, and those above it, where they are missing. They survive a power cut once this returns.
  /// - Throws: `exists` where a file is in the way.
  package func createFolder(_ path: String) throws(DiskError) {
    let parent = parentFolder(of: path)
    if parent == path { return }
    try createFolder(parent)
    if try status(path)?.kind == .folder {
      // Who made it may have died before this, and a power cut would take it with all that we sync inside it.
      do { try syncFolder(parent) } catch  where error.kind == .permissionDenied || error.kind == .readOnly {}
      return
    }
    do {
      try makeFolder(path)
    } catch {
      // Another process may have been quicker.
      guard error.kind == .exists, try status(path)?.kind == .folder else { throw error }
    }
    try syncFolder(parent)
  }

  /// Removes the drafts in `folder` that were last written before `time`, in nanoseconds since 1970: those that a crash
  /// left. Who holds the lock of the only store that writes there may take any draft for one of these.
  package func sweepDrafts(in folder: String, writtenBefore time: Int64 = .max) throws(DiskError) {
    for name in try list(folder) where Draft.isName(name) {
      let path = "\(folder)/\(name)"
      // A draft is a file; a folder or a link of such a name is somebody else's.
      guard let status = try status(path), status.kind == .file, !status.isLink else { continue }
      guard status.stamp.modified < time else { continue }
      do { try remove(path) } catch  where error.kind == .notFound {}
    }
  }
}

/// A new version of a file beside it, until it takes the file's name.
package enum Draft {
  private static let suffix = ".filedb-draft"

  /// A hidden name of its own, so that two processes never write the same draft.
  static func name(for file: String) -> String {
    // A file name may have 255 bytes: a table's has at most 206, these take 33 more.
    ".\(file).\(String(UInt64.random(in: .min ... .max), radix: 36))\(suffix)"
  }

  /// Whether `name` is one that ``name(for:)`` makes.
  static func isName(_ name: String) -> Bool {
    guard name.hasPrefix("."), name.hasSuffix(suffix) else { return false }
    let stem = name.dropFirst().dropLast(suffix.count)
    guard let dot = stem.lastIndex(of: "."), dot > stem.startIndex else { return false }
    return UInt64(stem[stem.index(after: dot)...], radix: 36) != nil
  }
}
