extension Disk {
  /// Replaces the content of the file at `path`, or makes it: after a crash at any point there is either the old
  /// content or the new, whole.
  ///
  /// Mode and owner stay; where `path` is a symbolic link, the link stays and its target is replaced, or made where
  /// it is missing.
  /// - Returns: the stamp of the new file.
  /// - Throws: `notFound` where the folder is missing, `isFolder` and `other` where `path` is no file.
  package func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> FileStamp {
    let target = try resolve(path)
    let old = try status(target)
    if let old, old.kind != .file { throw .notAFile("rename", target, old.kind) }
    let folder = parentFolder(of: target)
    let draft = "\(folder)/\(Draft.name(for: fileName(of: target)))"
    let written: FileStamp?
    do {
      let file = try create(draft, like: old)
      try file.append(bytes)
      try file.sync()  // Before the rename: else a power cut may leave the new name on an empty file.
      written = try status(draft)?.stamp
      try rename(draft, to: target)
    } catch {
      // The first error is the one to report, and a draft left behind is swept later.
      try? remove(draft)
      throw error
    }
    try syncFolder(folder)
    guard var stamp = try status(target)?.stamp else { throw .missing("stat", target) }
    // Somebody may have put another file there since, whose stamp must not speak for our bytes.
    if stamp.inode != written?.inode || stamp.size != written?.size { stamp.isSettled = false }
    return stamp
  }

  /// Makes a folder, and those above it, where they are missing. They survive a power cut once this returns.
  /// - Throws: `exists` where a file is in the way.
  package func createFolder(_ path: String) throws(DiskError) {
    if try status(path)?.kind == .folder { return }
    let parent = parentFolder(of: path)
    if parent != path { try createFolder(parent) }
    do {
      try makeFolder(path)
    } catch {
      // Another process may have been quicker.
      guard error.kind == .exists, try status(path)?.kind == .folder else { throw error }
    }
    try syncFolder(parent)  // Else a power cut may take the folder with all that was synced inside it.
  }

  /// Removes the drafts that a crash left in `folder`. Only for who holds the store's lock: any draft there is then
  /// nobody's.
  package func sweepDrafts(in folder: String) throws(DiskError) {
    for name in try list(folder) where Draft.isName(name) {
      let path = "\(folder)/\(name)"
      // A draft is a file; a folder or a link of such a name is somebody else's.
      guard let status = try status(path), status.kind == .file, !status.isLink else { continue }
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
