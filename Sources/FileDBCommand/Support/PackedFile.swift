import FileDB
import FileDBEssentials
import FileDBExchange

/// A file that gzip has packed.
enum PackedFile {
  /// Whether a file begins like one.
  static func begins(_ url: URL) -> Bool {
    guard InputFile.isRegular(url), let bytes = try? InputFile(url).read() else { return false }
    return bytes.starts(with: [0x1F, 0x8B])
  }

  /// What is in it, by the system's gzip: nothing else needs to unpack.
  static func source(_ url: URL, name: String) -> ImportSource {
    ImportSource(name: name) {
      guard let program = popen("gzip -dc <\(ShellText.quoted(url.path))", "r") else {
        throw StoreError(.inputOutput, "gzip cannot be run: \(String(cString: strerror(errno)))", file: name)
      }
      let unpacked = InputFile(closing: dup(fileno(program)), name: name)
      var isOver = false
      return {
        if isOver { return nil }
        if let piece = try unpacked.read() { return piece }
        isOver = true
        guard pclose(program) == 0 else {
          throw StoreError(StoreError.invalidText, "gzip cannot unpack this file", file: name)
        }
        return nil
      }
    }
  }
}
