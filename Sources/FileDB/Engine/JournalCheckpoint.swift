import FileDBStorage
import FileDBTables

/// The new versions of the tables' files that a checkpoint is about to install, as the journal records them.
struct JournalCheckpoint: Sendable {
  struct File: Sendable {
    /// The file's new version.
    var new: KnownVersion
    /// The version that another program saved while commits were waiting, if the new version is made from it.
    var saved: FileVersion?
    /// Whether it is not the file with its commits, but what a repair has made of it, or a new start.
    var isRepaired = false
  }

  var files: [TableKey: File] = [:]

  /// The payload of the checkpoint's frame.
  var payload: [UInt8] {
    var writer = LineWriter()
    for (table, file) in files.sorted(by: { $0.key < $1.key }) {
      writer.beginLine("file")
      writer.add(table)
      writer.add(file.new)
      if let saved = file.saved {
        writer.add("base" as StaticString)
        writer.add(saved)
      }
      if file.isRepaired { writer.add("repaired" as StaticString) }
      writer.endLine()
    }
    return writer.bytes
  }

  init(files: [TableKey: File] = [:]) { self.files = files }

  /// - Parameter sequence: the number of the frame's last commit. In format 2, all files include it.
  init(payload: ArraySlice<UInt8>, sequence: UInt64) throws(PayloadFault) {
    var files: [TableKey: File] = [:]
    try LineReader.readLines(payload) { lines throws(PayloadFault) in
      guard try lines.beginLine() == "file" else { throw lines.fault("a file is missing") }
      let (table, version) = (try lines.table(), try lines.knownVersion(through: sequence))
      let saved = lines.skip("base") ? try lines.version() : nil
      files[table] = File(new: version, saved: saved, isRepaired: lines.skip("repaired"))
      try lines.endLine()
    }
    self.files = files
  }
}

/// A version of a table's file that the journal names, and the last commit that it includes.
struct KnownVersion: Equatable, Sendable {
  var version: FileVersion
  var through: UInt64
  /// The identity of the file; `nil` if there is no file, if the disk does not identify it by numbers that fit, or if it
  /// is not known.
  var identity: FileIdentity?

  /// Whether a file with this stamp is certainly this version. The stamp is `nil` if there is no file.
  func isThere(_ stamp: FileStamp?) -> Bool {
    guard let stamp else { return version == .absent }
    // A time without nanoseconds is not the one that the checkpoint set.
    return stamp.modified % 1_000_000 != 0 && identity == FileIdentity(stamp) && version.size == stamp.size
  }
}

/// Distinguishes a file from a copy of it, and from what another program writes into it.
struct FileIdentity: Equatable, Sendable {
  var inode: Int64
  /// In nanoseconds since 1970.
  var modified: Int64

  init(inode: Int64, modified: Int64) { (self.inode, self.modified) = (inode, modified) }

  init?(_ stamp: FileStamp) {
    guard let inode = Int64(exactly: stamp.inode), stamp.modified >= 0 else { return nil }
    (self.inode, modified) = (inode, stamp.modified)
  }
}

extension LineWriter {
  mutating func add(_ known: KnownVersion) {
    add(known.version)
    add("through" as StaticString)
    add(known.through)
    if let identity = known.identity {
      add("inode" as StaticString)
      add(UInt64(identity.inode))
      add("modified" as StaticString)
      add(UInt64(identity.modified))
    }
  }
}

extension LineReader {
  /// - Parameter sequence: the last commit that it includes if the line does not say.
  mutating func knownVersion(through sequence: UInt64) throws(PayloadFault) -> KnownVersion {
    var known = KnownVersion(version: try version(), through: sequence)
    if skip("through") { known.through = UInt64(try number()) }
    if skip("inode") {
      let inode = try number()
      try expect("modified")
      known.identity = FileIdentity(inode: inode, modified: try number())
    }
    return known
  }
}

/// The files that a checkpoint has written, as the journal records them. They and their names are durable.
struct WrittenFiles: Equatable, Sendable {
  struct File: Equatable, Sendable {
    var known: KnownVersion
    /// Whether another program saved this file while commits were waiting.
    var isSaved = false
  }

  var files: [TableKey: File] = [:]
  /// The journal's own inode, if its name is durable, too. A copy of the store has another inode.
  var journal: Int64?

  /// The payload of the frame.
  var payload: [UInt8] {
    var writer = LineWriter()
    if let journal {
      writer.beginLine("journal")
      writer.add(UInt64(journal))
      writer.endLine()
    }
    for (table, file) in files.sorted(by: { $0.key < $1.key }) {
      writer.beginLine("file")
      writer.add(table)
      writer.add(file.known)
      if file.isSaved { writer.add("saved" as StaticString) }
      writer.endLine()
    }
    return writer.bytes
  }

  init(files: [TableKey: File] = [:], journal: Int64? = nil) { (self.files, self.journal) = (files, journal) }

  /// - Parameter sequence: the number of the frame's last commit. In format 2, all files include it.
  init(payload: ArraySlice<UInt8>, sequence: UInt64) throws(PayloadFault) {
    var written = WrittenFiles()
    try LineReader.readLines(payload) { lines throws(PayloadFault) in try written.readLine(&lines, sequence) }
    self = written
  }

  private mutating func readLine(_ lines: inout LineReader, _ sequence: UInt64) throws(PayloadFault) {
    switch try lines.beginLine() {
    case "journal": journal = try lines.number()
    case "file":
      let table = try lines.table()
      files[table] = File(known: try lines.knownVersion(through: sequence), isSaved: lines.skip("saved"))
    default: throw lines.fault("a file is missing")
    }
    try lines.endLine()
  }
}
