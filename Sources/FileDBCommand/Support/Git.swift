import FileDB
import Foundation

/// The user's git, run in a folder.
struct Git {
  let folder: URL

  /// - Returns: what it printed, without the line feed at the end.
  /// - Throws: ``StoreError/Code/fileNotFound`` where there is no git.
  func run(_ arguments: String...) throws -> (output: String, error: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git"] + arguments
    process.currentDirectoryURL = folder
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // A few lines each: neither fills a pipe.
    let texts = [output, error].map { pipe in
      String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        .trimmingCharacters(in: .newlines)
    }
    process.waitUntilExit()
    guard process.terminationStatus != 127 else {
      throw StoreError(.fileNotFound, "git is not installed, or not on the path")
    }
    return (texts[0], texts[1], process.terminationStatus)
  }
}
