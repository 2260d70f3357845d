import FileDB
import FileDBEssentials
import FileDBExchange

/// A file that was compressed with gzip.
enum PackedFile {
  /// How many times its size a file may have when it is unpacked, and the size that any file may have. gzip can make a
  /// thousand times as much of a few bytes; records do not come near this.
  private static let (most, always) = (256, 64 << 20)

  /// Whether a file begins like one.
  static func begins(_ url: URL) -> Bool {
    guard InputFile.isRegular(url), let bytes = try? InputFile(url).read() else { return false }
    return bytes.starts(with: [0x1F, 0x8B])
  }

  /// The unpacked content, from the system's gzip. Nothing else here needs to unpack files.
  static func source(_ url: URL, name: String) -> ImportSource {
    ImportSource(name: name) {
      let packed = open(url.path, O_RDONLY | O_CLOEXEC)
      guard packed >= 0 else { throw StoreError(.inputOutput, String(cString: strerror(errno)), file: name) }
      defer { close(packed) }
      let pipe = try PipeEnds()
      defer { close(pipe.writing) }
      let program = try ChildProcess(["/usr/bin/env", "gzip", "-dc"], input: packed, output: pipe.writing)
      let unpacked = InputFile(closing: pipe.reading, name: name)
      var isOver = false
      var rest = max(Int(try FileInfo(at: url).size) * most, always)
      return {
        if isOver { return nil }
        if let piece = try unpacked.read() {
          rest -= piece.count
          guard rest >= 0 else {
            throw StoreError(
              .invalidText,
              "this file unpacks to more than \(most) times its size; if you trust it, unpack it with gunzip first",
              file: name)
          }
          return piece
        }
        isOver = true
        guard program.wait() == 0 else {
          throw StoreError(.invalidText, "gzip cannot unpack this file", file: name)
        }
        return nil
      }
    }
  }
}
