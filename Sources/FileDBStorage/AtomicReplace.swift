/// The next content of a file. It is complete and synced under another name, until it takes the file's place.
package struct StagedFile: Sendable {
  /// The file that it will replace, with all links resolved.
  package let target: String
  fileprivate let draft: String
  /// The name under which the draft waits to be exchanged with the file. After the exchange, the old file has this name
  /// until it is checked.
  fileprivate var swap: String { Draft.swap(for: draft) }
  package let stamp: FileStamp?
  /// The file that it will replace, as it was when the draft was made; `nil` if there was none.
  fileprivate let former: FileStatus?
}

extension Disk {
  /// Replaces the content of the file at `path`, or creates the file. After a crash at any point, the file has either
  /// all of the old content or all of the new.
  ///
  /// The file keeps its mode and owner. If `path` is a symbolic link, the link stays. Its target is replaced, or
  /// created if it is missing.
  /// - Returns: the stamp of the new file.
  /// - Throws: `notFound` if the folder is missing, `isFolder` and `other` if `path` is not a file.
  package func replace(
    _ path: String, with bytes: [UInt8], as kind: Draft.Kind = .locked
  ) throws(DiskError) -> FileStamp {
    let staged = try stage(path, as: kind) { file throws(DiskError) in try file.append(bytes) }
    try syncFolder(install(staged))
    return try stamp(of: staged)
  }

  /// The first half of ``replace(_:with:as:)``. It writes and syncs the draft. If this fails, the file is unchanged.
  package func stage(_ bytes: [UInt8], for path: String) throws(DiskError) -> StagedFile {
    try stage(path) { file throws(DiskError) in try file.append(bytes) }
  }

  /// The same, with the bytes that `write` appends piece by piece.
  package func stage(
    _ path: String, as kind: Draft.Kind = .locked, mostOpen: UInt32 = 0o666,
    write: (any WritableFile) throws(DiskError) -> Void
  ) throws(DiskError) -> StagedFile {
    let target = try resolve(path)
    let old = try status(target)
    if let old, old.kind != .file { throw .notAFile("rename", target, old.kind) }
    let draft = "\(parentFolder(of: target))/\(Draft.name(for: fileName(of: target), kind))"
    do {
      let file =
        if let old {
          try createDraft(draft, like: target, old.mode)
        } else {
          try create(draft, as: .new(mostOpen: mostOpen))
        }
      try write(file)
      try file.sync()  // Before the rename, or a power cut may leave an empty file under the new name.
      return StagedFile(target: target, draft: draft, stamp: try status(draft)?.stamp, former: old)
    } catch {
      // Report the first error. If the draft cannot be removed, it is swept later.
      try? remove(draft)
      throw error
    }
  }

  private func createDraft(
    _ draft: String, like target: String, _ mode: UInt32
  ) throws(DiskError) -> any WritableFile {
    do { return try create(draft, as: .like(target)) } catch  where error.kind == .notFound {
      // An editor may have just removed the file: some delete before they save.
      try? remove(draft)
      return try create(draft, as: .new(mostOpen: mode & 0o666))
    }
  }

  /// Whether a draft that was made some time ago may still be installed: it is there, and the path leads to the file
  /// that it was made like, which has the same mode and owner.
  package func isCurrent(_ staged: StagedFile, for path: String) throws(DiskError) -> Bool {
    guard try resolve(path) == staged.target, try status(staged.draft)?.stamp.inode == staged.stamp?.inode
    else {
      return false
    }
    let present = try status(staged.target)
    return present?.mode == staged.former?.mode && present?.owner == staged.former?.owner
      && present?.group == staged.former?.group
  }

  /// The content of a draft.
  package func read(_ staged: StagedFile) throws(DiskError) -> [UInt8] { try read(staged.draft).bytes }

  /// The second half: gives the draft its file's name. If this fails, the draft is removed.
  /// - Returns: the folder that must be synced before the name survives a power cut.
  package func install(_ staged: StagedFile) throws(DiskError) -> String {
    do { try rename(staged.draft, to: staged.target) } catch {
      discard(staged)
      throw error
    }
    return parentFolder(of: staged.target)
  }

  /// Gives a draft its file's name, unless another program has saved the file in the meantime. Then the other program's
  /// file keeps the name, and the draft is removed.
  ///
  /// A crash may leave the former file under the name of a swap: see ``swaps(in:changedBefore:)``.
  /// - Parameter isExpected: checks the file at a path, which may be replaced. The path is `nil` if there is no file.
  /// - Returns: whether the draft now has the name. Sync its folder in either case.
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
        return false  // Another program removed the file.
      }
    } catch {
      for path in [staged.draft, staged.swap] { try? remove(path) }
      throw error
    }
    if try isExpected(staged.swap) {
      try remove(staged.swap)
      return true
    }
    try giveBack(staged)
    return false
  }

  /// Gives what another program has saved the name again. If it saves once more meanwhile, the newest version gets the
  /// name, and an older one stays under the name of a swap.
  private func giveBack(_ staged: StagedFile) throws(DiskError) {
    // Each exchange should return what the one before has put there.
    var (inTarget, inSwap) = (staged.stamp, try status(staged.swap)?.stamp)
    while true {
      try exchange(staged.swap, with: staged.target)
      guard let found = try status(staged.swap)?.stamp, let expected = inTarget,
        !found.isOfSameContent(as: expected)
      else { break }
      (inTarget, inSwap) = (inSwap, found)
    }
    if inTarget == staged.stamp { try remove(staged.swap) }
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
    discard(staged)
    return false
  }

  /// On a disk that cannot exchange names, checks the file right before the rename.
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

  /// Removes a file, unless another program has saved it in the meantime.
  /// - Returns: whether the file is gone. Sync its folder in either case.
  package func remove(
    _ path: String, if isExpected: (String?) throws(DiskError) -> Bool
  ) throws(DiskError) -> Bool {
    let swap = Draft.swap(for: "\(parentFolder(of: path))/\(Draft.name(for: fileName(of: path)))")
    do { try rename(path, toFree: swap) } catch  where error.kind == .notFound { return try isExpected(nil) }
    if try isExpected(swap) {
      try remove(swap)
      return true
    }
    // If a third version now has the path, this one stays under the name of a swap.
    do { try rename(swap, toFree: path) } catch  where error.kind == .exists {}
    return false
  }

  /// The stamp of a file that was just installed.
  package func stamp(of installed: StagedFile) throws(DiskError) -> FileStamp {
    guard var stamp = try status(installed.target)?.stamp else { throw .missing("stat", installed.target) }
    // Trust the time only if the file is still ours and the time has nanoseconds: then it is the one that we set.
    stamp.isSettled =
      stamp.inode == installed.stamp?.inode && stamp.size == installed.stamp?.size
      && stamp.modified == installed.stamp?.modified && stamp.modified % 1_000_000 != 0
    return stamp
  }

  /// Removes a draft that will not be installed.
  package func discard(_ staged: StagedFile) { try? remove(staged.draft) }

  /// Creates a folder and the missing folders above it. They survive a power cut once this returns.
  /// - Throws: `exists` if a file is in the way.
  package func createFolder(_ path: String) throws(DiskError) {
    let parent = parentFolder(of: path)
    if parent == path { return }
    try createFolder(parent)
    if try status(path)?.kind == .folder {
      // The process that created the parent may have died before it synced it. A power cut would then remove it, with
      // everything that we sync inside.
      do { try syncFolder(parent) } catch  where error.kind == .permissionDenied || error.kind == .readOnly {}
      return
    }
    do {
      try makeFolder(path)
    } catch {
      // Another process may have created it first.
      guard error.kind == .exists, try status(path)?.kind == .folder else { throw error }
    }
    try syncFolder(parent)
  }

  /// Removes the drafts that a crash left in `folder`.
  /// - Parameters:
  ///   - locked: removes drafts that were written under the lock before this time, in nanoseconds since 1970. If only
  ///     one store writes to the folder, the holder of its lock may pass any time.
  ///   - unlocked: removes drafts that were written without a lock before this time.
  package func sweepDrafts(
    in folder: String, lockedBefore locked: Int64 = .max, unlockedBefore unlocked: Int64 = .min
  ) throws(DiskError) {
    for name in try list(folder) {
      guard let kind = Draft.kind(of: name) else { continue }
      let path = "\(folder)/\(name)"
      // A draft is a file. If a folder or a link has such a name, it is not ours.
      guard let status = try status(path), status.kind == .file, !status.isLink else { continue }
      guard status.stamp.modified < (kind == .locked ? locked : unlocked) else { continue }
      do { try remove(path) } catch  where error.kind == .notFound {}
    }
  }
}

extension Disk {
  /// The files in `folder` that a crash left during an exchange of names, and the names of the files that they belong
  /// to. Each is a version that was replaced, one that was about to replace it, or one that another program had saved.
  package func swaps(
    in folder: String, changedBefore time: Int64 = .max
  ) throws(DiskError) -> [(path: String, file: String)] {
    var swaps: [(path: String, file: String)] = []
    for name in try list(folder) {
      guard let file = Draft.file(ofSwap: name) else { continue }
      let path = "\(folder)/\(name)"
      // Behind a link with such a name would be a file that is not ours.
      guard let status = try status(path), status.kind == .file, !status.isLink, status.stamp.changed < time
      else { continue }
      swaps.append((path, file))
    }
    return swaps
  }
}

/// A new version of a file beside it, until it takes the file's name.
package enum Draft {
  /// Who writes the draft.
  package enum Kind: String, CaseIterable, Sendable {
    /// The holder of a store's lock.
    case locked = ".filedb-draft"
    /// Anybody else. The store of that folder must not take the draft for one that a crash left.
    case unlocked = ".filedb-export"
  }

  private static let swapSuffix = ".filedb-swap"

  /// A hidden, unique name, so that two processes never write the same draft.
  static func name(for file: String, _ kind: Kind = .locked) -> String {
    // A file name may have 255 bytes. A table's name has at most 206, and these add 34.
    ".\(file).\(String(UInt64.random(in: .min ... .max), radix: 36))\(kind.rawValue)"
  }

  /// The name of a draft while it is exchanged with its file.
  static func swap(for draft: String) -> String { draft.dropLast(Kind.locked.rawValue.count) + swapSuffix }

  /// The kind of the draft with this name; `nil` if ``name(for:_:)`` makes no such name.
  static func kind(of name: String) -> Kind? { Kind.allCases.first { file(of: name, $0.rawValue) != nil } }

  /// The name of the file that a swap belongs to; `nil` if `name` is not that of a swap.
  static func file(ofSwap name: String) -> String? { file(of: name, swapSuffix) }

  private static func file(of name: String, _ suffix: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(suffix) else { return nil }
    let stem = name.dropFirst().dropLast(suffix.count)
    guard let dot = stem.lastIndex(of: "."), dot > stem.startIndex else { return nil }
    return UInt64(stem[stem.index(after: dot)...], radix: 36) != nil ? String(stem[..<dot]) : nil
  }
}
