import FileDB
import FileDBEssentials

/// Keeps bytes that can be read only once in a temporary file without a name. The file disappears with this object, or
/// with the process.
final class SpoolFile {
  private let file: OpenFile

  /// - Throws: ``StoreError/Code/inputOutput`` if there is no space for them; the errors of `nextPiece`.
  init(_ nextPiece: () throws -> [UInt8]?) throws {
    var path = Array(
      FileManager.default.temporaryDirectory.appendingPathComponent("filedb-XXXXXX").path.utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw StoreError(.inputOutput, "a temporary file cannot be created: \(reason)")
    }
    unlink(path)
    file = OpenFile(descriptor)
    while let piece = try nextPiece() {
      do { try file.append(piece) } catch {
        throw StoreError(.inputOutput, "the temporary file cannot be written: \(error)")
      }
    }
  }

  /// The bytes from `offset` on, at most 256 KiB; none at the end.
  func read(at offset: Int) throws -> [UInt8] {
    do { return try file.piece(at: offset) } catch {
      throw StoreError(.inputOutput, "the temporary file cannot be read: \(error)")
    }
  }
}
