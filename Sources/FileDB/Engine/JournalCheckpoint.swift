import FileDBTables

/// What a checkpoint is about to make of the tables' files, as the journal holds it.
struct JournalCheckpoint: Sendable {
  struct File: Sendable {
    /// What it is about to be.
    var version: FileVersion
    /// What another program saved while commits were waiting, and this is made from.
    var saved: FileVersion?
  }

  var files: [TableKey: File]

  init(files: [TableKey: File]) { self.files = files }

  /// The payload of the checkpoint's frame.
  var payload: [UInt8] {
    var writer = LineWriter()
    for (table, file) in files.sorted(by: { $0.key < $1.key }) {
      writer.beginLine("file")
      writer.add(table)
      writer.add(file.version)
      if let saved = file.saved {
        writer.add("base" as StaticString)
        writer.add(saved)
      }
      writer.endLine()
    }
    return writer.bytes
  }

  init(payload: ArraySlice<UInt8>) throws(PayloadFault) {
    var files: [TableKey: File] = [:]
    try LineReader.read(payload) { lines throws(PayloadFault) in
      guard try lines.beginLine() == "file" else { throw lines.fault("a file is missing") }
      let (table, version) = (try lines.table(), try lines.version())
      files[table] = File(version: version, saved: lines.skip("base") ? try lines.version() : nil)
      try lines.endLine()
    }
    self.files = files
  }
}
