import FileDBEssentials
import FileDBStorage
import FileDBTables

/// The files of records, each with those of one commit. Their names say which machine made them: if a service copies the
/// own folder, the journals of other machines may need files that this one does not know.
extension StoreFolder {
  static func isRecordsName(_ name: String) -> Bool { RecordsName(name) != nil }

  private func newRecordsName() -> String { RecordsName(machine: disk.disk.machine).text }

  func isOfOtherMachine(_ name: String) -> Bool {
    guard let machine = RecordsName(name)?.machine else { return false }
    return machine != disk.disk.machine
  }

  /// Writes the records of a commit into a file of their own, and syncs it, but not its name.
  func writeRecords(_ commit: JournalCommit) throws(StoreError) -> RecordsFile {
    let name = newRecordsName()
    var (count, size, checksum) = (0, 0, Checksum())
    try disk.create("\(ownFolder)/\(name)") { file throws(DiskError) in
      var piece: [UInt8] = []
      for record in commit.records {
        piece += record.bytes
        count += 1
        guard piece.count >= 1 << 20 else { continue }
        try file.append(piece)
        piece.withUnsafeBytes { checksum.update($0) }
        size += piece.count
        piece.removeAll(keepingCapacity: true)
      }
      try file.append(piece)
      piece.withUnsafeBytes { checksum.update($0) }
      size += piece.count
    }
    return RecordsFile(name: name, count: count, size: size, checksum: checksum.value)
  }

  /// - Throws: ``StoreError/Code/damagedJournal`` if they are not as they were written.
  func readRecords(_ file: RecordsFile) throws(StoreError) -> [UInt8] {
    let bytes = try readDamagedRecords(file)
    guard bytes.count == file.size, Checksum.of(bytes) == file.checksum else {
      throw StoreError(
        .damagedJournal, "the records of a commit are not as they were written",
        file: "\(ownFolder)/\(file.name)")
    }
    return bytes
  }

  /// Gives each file of another machine a second name, under which that machine does not remove it. Durable when this
  /// returns.
  /// - Returns: the new names, by the old ones.
  func adoptRecords(_ names: [String]) throws(StoreError) -> [String: String] {
    var adopted: [String: String] = [:]
    for name in Set(names) where isOfOtherMachine(name) {
      let new = newRecordsName()
      try disk.linkOrCopy(recordsPath(name), to: "\(ownFolder)/\(new)")
      try disk.syncFile("\(ownFolder)/\(new)")
      adopted[name] = new
    }
    if !adopted.isEmpty { try disk.syncFolder(ownFolder) }
    return adopted
  }

  /// A file of records may be among the backups: a service may have replaced the journal that needs it.
  private func recordsPath(_ name: String) throws(StoreError) -> String {
    let (path, backup) = ("\(ownFolder)/\(name)", "\(backupFolder)/\(name)")
    if try disk.status(path) == nil, try disk.status(backup) != nil { return backup }
    return path
  }

  /// Reads the records as they are now.
  func readDamagedRecords(_ file: RecordsFile) throws(StoreError) -> [UInt8] {
    guard Self.isRecordsName(file.name) else {
      throw StoreError(.damagedJournal, "'\(file.name)' is not a file of records", file: journalFile)
    }
    return try disk.read(recordsPath(file.name)).bytes
  }

  /// The names of all files of records.
  func recordsFiles() -> [String] { ((try? disk.list(ownFolder)) ?? []).filter { Self.isRecordsName($0) } }

  /// Removes files of records that no journal refers to. If some cannot be removed, the next checkpoint removes them.
  func remove(_ names: Set<String>) { for name in names { try? disk.remove("\(ownFolder)/\(name)") } }

  /// Removes the files of records that the journal no longer refers to. If some cannot be removed, a later call removes
  /// them. Those of other machines stay.
  func removeRecords(except needed: Set<String>) {
    remove(Set(recordsFiles().filter { !isOfOtherMachine($0) }).subtracting(needed))
  }

  /// Moves the files of records that the journal does not refer to into the backups. A service has replaced the journal
  /// of this machine, and a copy of it may still arrive.
  func keepRecords(except needed: Set<String>) throws(StoreError) {
    let kept = recordsFiles().filter { !isOfOtherMachine($0) && !needed.contains($0) }
    if kept.isEmpty { return }
    try disk.createFolder(backupFolder)
    for name in kept { try disk.rename("\(ownFolder)/\(name)", to: "\(backupFolder)/\(name)") }
    try disk.syncFolder(backupFolder)
  }
}

extension StoreFolder {
  /// Gives a file of records a second name among the backups, so that a copy of the journal finds it there when the
  /// journal no longer needs it. Durable when this returns.
  func keepRecords(_ name: String) throws(DiskError) {
    let (path, backup) = ("\(ownFolder)/\(name)", "\(backupFolder)/\(name)")
    let disk = disk.disk
    guard Self.isRecordsName(name), try disk.status(path) != nil, try disk.status(backup) == nil else {
      return
    }
    try disk.createFolder(backupFolder)
    do { try disk.link(path, to: backup) } catch  where error.kind == .unsupported {
      _ = try disk.replace(backup, with: disk.read(path).bytes, as: .unlocked)
    }
    try disk.syncFolder(backupFolder)
  }
}

/// The name of a file of records: `records-RANDOM`, or `records-MACHINE-RANDOM` if the machine is known.
private struct RecordsName {
  private static let prefix = "records-"

  let machine: String?
  private let number: UInt64

  init(machine: String?) { (self.machine, number) = (machine, .random(in: .min ... .max)) }

  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix) else { return nil }
    let words = name.dropFirst(Self.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
    guard words.count <= 2, let number = words.last.flatMap({ UInt64($0, radix: 36) }) else { return nil }
    self.number = number
    machine = words.count == 2 ? String(words[0]) : nil
    // The name may come from a stranger's journal, and becomes a path.
    if let machine, machine.utf8.count != 8 || !machine.utf8.allSatisfy(Self.isHexadecimal) { return nil }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  var text: String { Self.prefix + (machine.map { "\($0)-" } ?? "") + String(number, radix: 36) }
}
