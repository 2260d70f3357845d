import FileDB
import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Bytes that come only once, kept in a temporary file without a name: it goes with this object, or with the process.
final class SpoolFile {
  private let handle: FileHandle

  /// - Throws: ``StoreError/Code/inputOutput`` where there is no room for them; what `nextPiece` throws.
  init(_ nextPiece: () throws -> [UInt8]?) throws {
    var path = Array(
      FileManager.default.temporaryDirectory.appendingPathComponent("filedb-XXXXXX").path.utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw StoreError(.inputOutput, "no temporary file: \(String(cString: strerror(errno)))")
    }
    unlink(path)
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    while let piece = try nextPiece() {
      do { try handle.write(contentsOf: Data(piece)) } catch {
        throw StoreError(.inputOutput, "the temporary file cannot be written: \(error)")
      }
    }
  }

  /// The bytes from `offset` on, at most 256 KiB; none at the end.
  func read(at offset: Int) throws -> [UInt8] {
    do {
      try handle.seek(toOffset: UInt64(offset))
      return Array(try handle.read(upToCount: 256 << 10) ?? Data())
    } catch {
      throw StoreError(.inputOutput, "the temporary file cannot be read: \(error)")
    }
  }
}
