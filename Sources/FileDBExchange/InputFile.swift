import FileDB
import FileDBEssentials
import Synchronization

/// A file that is read piece by piece.
public final class InputFile {
  private let name: String
  private let file: OpenFile

  /// Opens the file at `url`.
  /// - Throws: ``StoreError/Code/fileNotFound``, also for a folder; ``StoreError/Code/permissionDenied``,
  ///   ``StoreError/Code/inputOutput``.
  public init(_ url: URL) throws {
    name = url.path
    guard !FileInfo.isFolder(url) else {
      throw StoreError(.fileNotFound, "this is a folder, not a file", file: name)
    }
    do { file = try OpenFile(reading: name) } catch { throw StoreError(reading: name, error) }
  }

  private init(name: String, file: OpenFile) {
    self.name = name
    self.file = file
  }

  /// Reads bytes from a descriptor, and closes it when this object is released.
  package convenience init(closing descriptor: CInt, name: String) {
    self.init(name: name, file: OpenFile(descriptor))
  }

  /// Standard input.
  public static var standardInput: InputFile {
    isUsed.store(true, ordering: .relaxed)
    return InputFile(name: "standard input", file: OpenFile(OpenFile.standardInput))
  }

  private static let isUsed = Atomic<Bool>(false)

  /// Whether the program may have read from its standard input.
  package static var standardInputIsUsed: Bool { isUsed.load(ordering: .relaxed) }

  /// The next bytes, at most 256 KiB; `nil` at the end.
  /// - Throws: the disk's errors.
  public func read() throws -> [UInt8]? {
    do {
      let bytes = try file.nextPiece()
      return bytes.isEmpty ? nil : bytes
    } catch {
      throw StoreError(reading: name, error)
    }
  }

  /// All bytes up to the end.
  /// - Throws: the disk's errors.
  public func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try read() { bytes += piece }
    return bytes
  }
}

extension StoreError {
  fileprivate init(reading name: String, _ error: OpenFile.Failure) {
    switch error.number {
    case ENOENT, ENOTDIR: self.init(.fileNotFound, "there is no such file", file: name)
    case EACCES, EPERM: self.init(.permissionDenied, "this file may not be read", file: name)
    default: self.init(.inputOutput, "\(error)", file: name)
    }
  }
}
