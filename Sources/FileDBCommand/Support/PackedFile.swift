import FileDB
import FileDBEssentials
import FileDBExchange

/// A file that was compressed with gzip.
enum PackedFile {
  /// Whether a file begins like one.
  static func begins(_ url: URL) -> Bool {
    guard InputFile.isRegular(url), let bytes = try? InputFile(url).read() else { return false }
    return bytes.starts(with: [0x1F, 0x8B])
  }

  /// The unpacked content, from the system's gzip. Nothing else here needs to unpack files.
  static func source(_ url: URL, name: String) -> ImportSource {
    ImportSource(name: name) {
      let pipe = try PipeEnds()
      let program = try ChildProcess(
        shell: "exec gzip -dc <\(ShellText.quoted(url.path))", output: pipe.writing)
      close(pipe.writing)
      let unpacked = InputFile(closing: pipe.reading, name: name)
      var isOver = false
      return {
        if isOver { return nil }
        if let piece = try unpacked.read() { return piece }
        isOver = true
        guard program.wait() == 0 else {
          throw StoreError(StoreError.invalidText, "gzip cannot unpack this file", file: name)
        }
        return nil
      }
    }
  }
}
