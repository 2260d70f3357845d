import FileDBStorage
import FileDBTables

/// The files that a checkpoint has written, as the journal records them. They include all commits so far, and they and
/// their names are durable.
struct WrittenFiles: Equatable, Sendable {
  struct File: Equatable, Sendable {
    var version: FileVersion
    /// The identity of the file; `nil` if there is no file, or if the disk does not identify it by numbers that fit.
    var identity: Identity?
  }

  /// Distinguishes a file from a copy of it, and from what another program writes into it.
  struct Identity: Equatable, Sendable {
    var inode: Int64
    /// In nanoseconds since 1970.
    var modified: Int64

    init(inode: Int64, modified: Int64) { (self.inode, self.modified) = (inode, modified) }

    init?(_ stamp: FileStamp) {
      guard let inode = Int64(exactly: stamp.inode), stamp.modified >= 0 else { return nil }
      (self.inode, modified) = (inode, stamp.modified)
    }
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
      writer.add(file.version)
      if let identity = file.identity {
        writer.add("inode" as StaticString)
        writer.add(UInt64(identity.inode))
        writer.add("modified" as StaticString)
        writer.add(UInt64(identity.modified))
      }
      writer.endLine()
    }
    return writer.bytes
  }

  init(files: [TableKey: File] = [:], journal: Int64? = nil) { (self.files, self.journal) = (files, journal) }

  init(payload: ArraySlice<UInt8>) throws(PayloadFault) {
    var written = WrittenFiles()
    try LineReader.read(payload) { lines throws(PayloadFault) in try written.readLine(&lines) }
    self = written
  }

  private mutating func readLine(_ lines: inout LineReader) throws(PayloadFault) {
    switch try lines.beginLine() {
    case "journal": journal = try lines.number()
    case "file":
      let table = try lines.table()
      var file = File(version: try lines.version())
      if lines.skip("inode") {
        let inode = try lines.number()
        try lines.expect("modified")
        file.identity = Identity(inode: inode, modified: try lines.number())
      }
      files[table] = file
    default: throw lines.fault("a file is missing")
    }
    try lines.endLine()
  }
}
