import FileDBTables

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
