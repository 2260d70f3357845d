/// The next content of a file, whole and synced under another name, until it takes the file's place.
package struct StagedFile: Sendable {
  /// The file that it will replace, with all links followed.
  package let target: String
  fileprivate let draft: String
  /// The name under which it waits to be exchanged with the file, and what it replaced waits to be looked at.
  fileprivate var swap: String { Draft.swap(for: draft) }
  fileprivate let stamp: FileStamp?
}

extension Disk {
  /// Replaces the content of the file at `path`, or makes it: after a crash at any point there is either the old
  /// content or the new, whole.
  ///
  /// Mode and owner stay; if `path` is a symbolic link, the link stays and its target is replaced, or made if
  /// it is missing.
  /// - Returns: the stamp of the new file.
  /// - Throws: `notFound` if the folder is missing, `isFolder` and `other` if `path` is not a file.
  package func replace(
    _ path: String, with bytes: [UInt8], as kind: Draft.Kind = .locked
  ) throws(DiskError) -> FileStamp {
    let staged = [try stage(path, as: kind) { file throws(DiskError) in try file.append(bytes) }]
    for folder in try install(staged) { try syncFolder(folder) }
    return try stamps(of: staged)[0]
  }

  /// The first half of ``replace(_:with:as:)``: whatever can go wrong with the bytes goes wrong here, with the file as
  /// it was.
  package func stage(_ bytes: [UInt8], for path: String) throws(DiskError) -> StagedFile {
    try stage(path) { file throws(DiskError) in try file.append(bytes) }
  }

  /// The same with what `write` appends, piece by piece.
  package func stage(
    _ path: String, as kind: Draft.Kind = .locked, write: (any WritableFile) throws(DiskError) -> Void
  ) throws(DiskError) -> StagedFile {
    let target = try resolve(path)
    let old = try status(target)
    if let old, old.kind != .file { throw .notAFile("rename", target, old.kind) }
    let draft = "\(parentFolder(of: target))/\(Draft.name(for: fileName(of: target), kind))"
    do {
      let file = try createDraft(draft, like: old == nil ? nil : target)
      try write(file)
      try file.sync()  // Before the rename: else a power cut may leave the new name on an empty file.
      return StagedFile(target: target, draft: draft, stamp: try status(draft)?.stamp)
    } catch {
      // The first error is the one to report, and a draft left behind is swept later.
      try? remove(draft)
      throw error
    }
  }

  private func createDraft(_ draft: String, like target: String?) throws(DiskError) -> any WritableFile {
    guard let target else { return try create(draft, like: nil) }
    do { return try create(draft, like: target) } catch  where error.kind == .notFound {
      // An editor that saves by deleting first has just removed it.
      try? remove(draft)
      return try create(draft, like: nil)
    }
  }

  /// What is in a draft.
  package func read(_ staged: StagedFile) throws(DiskError) -> [UInt8] { try read(staged.draft).bytes }

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

  /// Gives a draft its file's name, unless another program has saved there meanwhile: what it saved keeps the name, and
  /// the draft goes.
  ///
  /// A crash may leave under the draft's second name what had the file's: see ``swaps(in:changedBefore:)``.
  /// - Parameter isExpected: looks at the file at a path, which may be replaced; `nil` if there is none.
  /// - Returns: whether the draft has the name. Its folder is to be synced in any case.
  package func install(
    _ staged: StagedFile, over isExpected: (String?) throws(DiskError) -> Bool
  ) throws(DiskError) -> Bool {
    do {
      guard try status(staged.target) != nil else { return try installNew(staged, over: isExpected) }
      try rename(staged.draft, toFree: staged.swap)
      do { try exchange(staged.swap, with: staged.target) } catch  where error.kind == .unsupported {
        return try installUnlessChanged(staged, over: isExpected)
      } catch  where error.kind == .notFound {
        try remove(staged.swap)
        return false  // Somebody removed the file.
      }
    } catch {
      for path in [staged.draft, staged.swap] { try? remove(path) }
      throw error
    }
    if try isExpected(staged.swap) {
      try remove(staged.swap)
      return true
    }
    try exchange(staged.swap, with: staged.target)
    // What was saved over ours in between stays under the name of a swap.
    if try status(staged.swap)?.stamp.inode == staged.stamp?.inode { try remove(staged.swap) }
    return false
  }

  private func installNew(
    _ staged: StagedFile, over isExpected: (String?) throws(DiskError) -> Bool
  ) throws(DiskError) -> Bool {
    if try isExpected(nil) {
      do {
        try rename(staged.draft, toFree: staged.target)
        return true
      } catch  where error.kind == .exists {}
    }
    discard([staged])
    return false
  }

  /// On a disk that cannot exchange names the file is checked right before the rename.
  private func installUnlessChanged(
    _ staged: StagedFile, over isExpected: (String?) throws(DiskError) -> Bool
  ) throws(DiskError) -> Bool {
    guard try isExpected(staged.target) else {
      try remove(staged.swap)
      return false
    }
    try rename(staged.swap, to: staged.target)
    return true
  }

  /// Removes a file, unless another program has saved there meanwhile: that stays.
  /// - Returns: whether the file is gone. Its folder is to be synced in any case.
  package func remove(
    _ path: String, if isExpected: (String?) throws(DiskError) -> Bool
  ) throws(DiskError) -> Bool {
    let swap = Draft.swap(for: "\(parentFolder(of: path))/\(Draft.name(for: fileName(of: path)))")
    do { try rename(path, toFree: swap) } catch  where error.kind == .notFound { return try isExpected(nil) }
    if try isExpected(swap) {
      try remove(swap)
      return true
    }
    // Where a third version has come, the other stays under the name of a swap.
    do { try rename(swap, toFree: path) } catch  where error.kind == .exists {}
    return false
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

  /// Makes a folder, and those above it, if they are missing. They survive a power cut once this returns.
  /// - Throws: `exists` if a file is in the way.
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

  /// Removes the drafts in `folder` that a crash left.
  /// - Parameters:
  ///   - locked: removes those that were written under the lock before this time, in nanoseconds since 1970. Who holds
  ///     the lock of the only store that writes there may take any of them.
  ///   - unlocked: removes those that were written without a lock before this time.
  package func sweepDrafts(
    in folder: String, lockedBefore locked: Int64 = .max, unlockedBefore unlocked: Int64 = .min
  ) throws(DiskError) {
    for name in try list(folder) {
      guard let kind = Draft.kind(of: name) else { continue }
      let path = "\(folder)/\(name)"
      // A draft is a file; a folder or a link of such a name is somebody else's.
      guard let status = try status(path), status.kind == .file, !status.isLink else { continue }
      guard status.stamp.modified < (kind == .locked ? locked : unlocked) else { continue }
      do { try remove(path) } catch  where error.kind == .notFound {}
    }
  }
}

extension Disk {
  /// The files in `folder` that a crash left while names were exchanged, and the names of the files that they belong
  /// to: each is a version that was replaced, or was about to replace it, or what another program had saved.
  package func swaps(
    in folder: String, changedBefore time: Int64 = .max
  ) throws(DiskError) -> [(path: String, file: String)] {
    var swaps: [(path: String, file: String)] = []
    for name in try list(folder) {
      guard let file = Draft.file(ofSwap: name) else { continue }
      let path = "\(folder)/\(name)"
      guard let status = try status(path), status.kind == .file, status.stamp.changed < time else { continue }
      swaps.append((path, file))
    }
    return swaps
  }
}

/// A new version of a file beside it, until it takes the file's name.
package enum Draft {
  /// Who writes a draft.
  package enum Kind: String, CaseIterable, Sendable {
    /// Who holds a store's lock.
    case locked = ".filedb-draft"
    /// Anybody else: a store whose folder it is in must not take it for one that a crash left.
    case unlocked = ".filedb-export"
  }

  private static let swapSuffix = ".filedb-swap"

  /// A hidden name of its own, so that two processes never write the same draft.
  static func name(for file: String, _ kind: Kind = .locked) -> String {
    // A file name may have 255 bytes: a table's has at most 206, these take 34 more.
    ".\(file).\(String(UInt64.random(in: .min ... .max), radix: 36))\(kind.rawValue)"
  }

  /// The name of a draft while it is exchanged with its file.
  static func swap(for draft: String) -> String { draft.dropLast(Kind.locked.rawValue.count) + swapSuffix }

  /// Of which kind a draft with this name is; `nil` if ``name(for:_:)`` makes no such name.
  static func kind(of name: String) -> Kind? { Kind.allCases.first { file(of: name, $0.rawValue) != nil } }

  /// The name of the file that a swap belongs to; `nil` if `name` is none of a swap.
  static func file(ofSwap name: String) -> String? { file(of: name, swapSuffix) }

  private static func file(of name: String, _ suffix: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(suffix) else { return nil }
    let stem = name.dropFirst().dropLast(suffix.count)
    guard let dot = stem.lastIndex(of: "."), dot > stem.startIndex else { return nil }
    return UInt64(stem[stem.index(after: dot)...], radix: 36) != nil ? String(stem[..<dot]) : nil
  }
}
