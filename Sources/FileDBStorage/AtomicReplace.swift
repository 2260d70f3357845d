extension Disk {
  /// Replaces the content of the file at `path`, or makes it: after a crash at any point there is either the old
  /// content or the new, whole.
  ///
  /// Mode and owner stay; where `path` is a symbolic link, the link stays and its target is replaced.
  /// - Returns: the stamp of the new file.
  package func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> FileStamp {
    let old = try status(path)
    let target = old?.isLink == true ? try resolve(path) : path
    let folder = parentFolder(of: target)
    let draft = "\(folder)/\(Draft.name(for: fileName(of: target)))"
    do {
      let file = try create(draft, like: old)
      try file.append(bytes)
      try file.sync()  // Before the rename: else a power cut may leave the new name on an empty file.
      try rename(draft, to: target)
    } catch {
      // The first error is the one to report, and a draft left behind is swept later.
      try? remove(draft)
      throw error
    }
    try syncFolder(folder)
    guard let stamp = try status(target)?.stamp else { throw DiskError("stat", target, errno: 2) }
    return stamp
  }

  /// Removes the drafts that a crash left in `folder`. Only for who holds the store's lock: any draft there is then
  /// nobody's.
  package func sweepDrafts(in folder: String) throws(DiskError) {
    for name in try list(folder) where Draft.isName(name) {
      do { try remove("\(folder)/\(name)") } catch  where error.kind == .notFound {}
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

  static func isName(_ name: String) -> Bool { name.hasPrefix(".") && name.hasSuffix(suffix) }
}
