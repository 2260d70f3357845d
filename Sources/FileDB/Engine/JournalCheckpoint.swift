import FileDBTables

/// The new versions of the tables' files that a checkpoint is about to install, as the journal records them.
struct JournalCheckpoint: Sendable {
  struct File: Sendable {
    /// The file's new version.
    var version: FileVersion
    /// The version that another program saved while commits were waiting, if the new version is made from it.
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
