import FileDB
import FileDBEssentials
import FileDBExchange

/// A file that git lists as unmerged, with git's versions of it.
struct UnmergedFile {
  private let git: Git
  /// The names of the versions by stage: 1 is the base, 2 ours, 3 theirs.
  private let blobs: [Int: String]

  private init(git: Git, blobs: [Int: String]) { (self.git, self.blobs) = (git, blobs) }

  /// - Returns: `nil` if git lists no such file, or is not installed.
  init?(_ file: URL) {
    let name = file.lastPathComponent
    guard let found = Self.all(in: file.deletingLastPathComponent(), at: name)[TableKey(name)] else {
      return nil
    }
    self = found
  }

  /// The files in a folder that git lists as unmerged, by their names, with one call of git.
  static func all(in folder: URL, at path: String = ".") -> [TableKey: UnmergedFile] {
    let git = Git(folder: folder)
    let words = ["--literal-pathspecs", "ls-files", "--unmerged", "-z", "--", path]
    guard let list = try? git.read(words), list.status == 0 else { return [:] }
    var blobs: [TableKey: [Int: String]] = [:]
    for line in list.output.split(separator: 0) {
      // The line has mode, name and stage, then a tab and the path.
      let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      let words = String(decoding: parts[0], as: UTF8.self).split(separator: " ")
      guard parts.count == 2, words.count == 3, let stage = Int(words[2]) else { continue }
      blobs[TableKey(String(decoding: parts[1], as: UTF8.self)), default: [:]][stage] = String(words[1])
    }
    return blobs.mapValues { UnmergedFile(git: git, blobs: $0) }
  }

  /// Identifies this conflict.
  var identity: String { (1...3).map { blobs[$0] ?? "none" }.joined(separator: " ") }

  /// - Returns: `nil` if a side does not have the file.
  func versions() throws -> ConflictVersions? {
    guard let ours = try content(2), let theirs = try content(3) else { return nil }
    return ConflictVersions(base: try content(1), ours: ours, theirs: theirs, identity: identity)
  }

  /// The result of git's merge driver for these versions; `nil` if a side does not have the file.
  func merge() throws -> TableMerge<Fields>? {
    guard let versions = try versions() else { return nil }
    return try TableMerge(
      base: versions.base.map { try TableSnapshot(bytes: $0, name: "base") },
      ours: TableSnapshot(bytes: versions.ours, name: "ours"),
      theirs: TableSnapshot(bytes: versions.theirs, name: "theirs"))
  }

  private func content(_ stage: Int) throws -> [UInt8]? {
    guard let blob = blobs[stage] else { return nil }
    let result = try git.read(["cat-file", "blob", blob])
    guard result.status == 0 else {
      throw StoreError(
        .inputOutput, "git cannot read a version: \(String(decoding: result.error, as: UTF8.self))",
        file: git.folder.path)
    }
    return result.output
  }
}
