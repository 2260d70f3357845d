import FileDB
import FileDBEssentials
import FileDBExchange

/// The user's git, run in a folder.
struct Git {
  let folder: URL

  /// Whether a folder, or one that it is in, has a `.git`. Runs no program.
  static func hasRepository(around folder: URL) -> Bool {
    var place = folder.resolvingSymlinksInPath()
    for _ in place.pathComponents {
      if FileManager.default.fileExists(atPath: place.appendingPathComponent(".git").path) { return true }
      place.deleteLastPathComponent()
    }
    return false
  }

  /// - Returns: its output, without the line feeds at the end.
  /// - Throws: ``StoreError/Code/fileNotFound`` if there is no git.
  func run(_ arguments: String...) throws -> (output: String, error: String, status: Int32) {
    let (output, error, status) = try read(arguments)
    return (Self.text(output), Self.text(error), status)
  }

  /// - Returns: its output as bytes.
  /// - Throws: ``StoreError/Code/fileNotFound`` if there is no git.
  func read(_ arguments: [String]) throws -> (output: [UInt8], error: [UInt8], status: Int32) {
    let (output, error) = try (PipeEnds(), PipeEnds())
    let words = ["/usr/bin/env", "git", "-C", folder.path] + arguments
    let process = try ChildProcess(words, output: output.writing, error: error.writing)
    for end in [output.writing, error.writing] { close(end) }
    // Errors have only a few lines, which do not fill a pipe.
    let bytes = try [output, error].map { try InputFile(closing: $0.reading, name: "git").readAll() }
    let status = process.wait()
    guard status != 127 else {
      throw StoreError(.fileNotFound, "git is not installed, or not on the path")
    }
    return (bytes[0], bytes[1], status)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    let end = bytes.lastIndex { $0 != UInt8(ascii: "\n") }.map { $0 + 1 } ?? 0
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}
