import FileDBStorage
import FileDBTables

/// The files of the undo log, in `.filedb/undo`. Each name begins with the token of the commit that the file belongs
/// to. The undo log writes `TOKEN-CHECKSUM.step` and `TOKEN-CHECKSUM.changes`. `TOKEN-NUMBER.table` is a former version
/// of a table's file.
///
/// None of them is synced, so that the commit's own sync is the only one. The name shows what a power cut removed or
/// damaged.
extension StoreFolder {
  enum UndoFile: String {
    /// What the step did, and the names of the other steps.
    case step
    /// The changes that undo the commit.
    case changes
  }

  /// The names of the files by the commits they belong to.
  func undoFiles() throws(StoreError) -> [CommitToken: [String]] {
    guard try disk.status(undoFolder) != nil else { return [:] }
    var files: [CommitToken: [String]] = [:]
    for name in try disk.list(undoFolder) {
      guard let token = CommitToken(text: name.prefix(32)), name.dropFirst(32).first == "-" else { continue }
      files[token, default: []].append(name)
    }
    return files
  }

  /// The total size of some of these files, in bytes.
  func size(ofUndoFiles names: [String]) throws(StoreError) -> Int {
    var size = 0
    for name in names { size += try disk.status("\(undoFolder)/\(name)")?.stamp.size ?? 0 }
    return size
  }

  /// - Parameter pieces: the file's bytes.
  func writeUndo(_ kind: UndoFile, _ pieces: [[UInt8]], of token: CommitToken) throws(StoreError) {
    try makeUndoFolder()
    var checksum = Checksum()
    for piece in pieces { piece.withUnsafeBytes { checksum.update($0) } }
    let name = "\(token.text)-\(String(checksum.value, radix: 16)).\(kind.rawValue)"
    try disk.createUnsynced("\(undoFolder)/\(name)", pieces)
  }

  /// Checks that the disk has room for `count` bytes. If the store's folder does not exist yet, nothing is checked.
  func checkRoomForUndo(_ count: Int) throws(StoreError) {
    for folder in [undoFolder, path] where try disk.status(folder) != nil {
      return try disk.checkRoom(for: count, at: folder)
    }
  }

  /// - Parameter names: the names of the commit's files.
  /// - Returns: `nil` if the file is missing or not as it was written.
  func readUndo(_ kind: UndoFile, among names: [String]) throws(StoreError) -> [UInt8]? {
    let suffix = ".\(kind.rawValue)"
    guard let name = names.first(where: { $0.hasSuffix(suffix) }) else { return nil }
    let bytes: [UInt8]
    do { bytes = try disk.read("\(undoFolder)/\(name)").bytes } catch  where error.code == .fileNotFound {
      return nil  // Another writer has removed it in the meantime.
    }
    let checksum = UInt32(name.dropFirst(33).dropLast(suffix.count), radix: 16)
    return checksum == Checksum.of(bytes) ? bytes : nil
  }

  /// Keeps a table's file, under a second name if the disk supports that.
  /// - Returns: the name in ``undoFolder``.
  func keepForUndo(_ file: String, of token: CommitToken, number: Int) throws(StoreError) -> String {
    try makeUndoFolder()
    let name = "\(token.text)-\(number).table"
    try disk.linkOrCopy(disk.resolve(file), to: "\(undoFolder)/\(name)")
    return name
  }

  private func makeUndoFolder() throws(StoreError) {
    if try disk.status(undoFolder) == nil { try disk.makeFolder(undoFolder) }
  }

  /// Removes the files of a commit that failed.
  func removeUndoFiles(of token: CommitToken) { removeUndoFiles((try? undoFiles()[token]) ?? []) }

  /// Removes files of the undo log. If some cannot be removed, a later call removes them.
  func removeUndoFiles(_ names: some Sequence<String>) {
    for name in names { try? disk.remove("\(undoFolder)/\(name)") }
  }

  /// The total size of the tables' files, in bytes.
  func sizeOfTables() throws(StoreError) -> Int {
    var size = 0
    for table in try tableNames() { size += (try? file(of: table))?.status?.stamp.size ?? 0 }
    return size
  }
}
