import FileDBTables

/// What a checkpoint is about to make of the tables' files, as the journal holds it.
struct JournalCheckpoint: Sendable {
  var files: [TableKey: FileVersion]

  init(files: [TableKey: FileVersion]) { self.files = files }

  /// The payload of the checkpoint's frame.
  var payload: [UInt8] {
    var writer = LineWriter()
    for (table, version) in files.sorted(by: { $0.key < $1.key }) {
      writer.beginLine("file")
      writer.add(table)
      writer.add(version)
      writer.endLine()
    }
    return writer.bytes
  }

  init(payload: ArraySlice<UInt8>) throws(PayloadFault) {
    files = [:]
    var fault: PayloadFault?
    payload.withUnsafeBytes { bytes in
      var lines = LineReader(bytes)
      do throws(PayloadFault) {
        while !lines.isAtEnd {
          guard try lines.beginLine() == "file" else { throw lines.fault("a file is missing") }
          files[try lines.table()] = try lines.version()
          try lines.endLine()
        }
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
  }
}
