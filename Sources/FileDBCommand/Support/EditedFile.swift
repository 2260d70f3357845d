import FileDB
import FileDBEssentials
import FileDBExchange

/// A text in a temporary file, for a person to edit.
struct EditedFile {
  let path: String

  /// - Throws: ``StoreError/Code/inputOutput``.
  init(_ bytes: [UInt8], named name: String, extension suffix: String) throws {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-XXXXXX.\(suffix)")
    var template = Array(place.path.utf8CString)
    let descriptor = mkstemps(&template, CInt(suffix.utf8.count + 1))
    guard descriptor >= 0 else { throw Self.failure(place.path) }
    defer { close(descriptor) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw Self.failure(path) }
  }

  /// The present content.
  func bytes() throws -> [UInt8] { try InputFile(URL(fileURLWithPath: path)).readAll() }

  func remove() { unlink(path) }

  /// Runs the editor that $VISUAL or $EDITOR names, and waits for its end.
  /// - Throws: ``StoreError/Code/inputOutput`` if it fails.
  func edit() throws {
    let environment = ProcessInfo.processInfo.environment
    let editor =
      [environment["VISUAL"], environment["EDITOR"]].compactMap(\.self).first { !$0.isEmpty } ?? "vi"
    StandardOutput.flush()
    let status = try ChildProcess.runForUser(shell: "\(editor) \"$@\"", [path])
    guard status == 0 else {
      throw StoreError(.inputOutput, "the editor '\(editor)' failed, so nothing was changed")
    }
  }

  private static func failure(_ path: String) -> StoreError {
    StoreError(.inputOutput, String(cString: strerror(errno)), file: path)
  }
}
