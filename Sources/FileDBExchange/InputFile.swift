import FileDB
import Foundation
import Synchronization

/// A file that is read piece by piece.
public final class InputFile {
  private let name: String
  private let handle: FileHandle

  /// - Throws: ``StoreError/Code/fileNotFound``, also for a folder; ``StoreError/Code/permissionDenied``,
  ///   ``StoreError/Code/inputOutput``.
  public init(_ url: URL) throws {
    name = url.path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), isFolder.boolValue {
      throw StoreError(.fileNotFound, "this is a folder, not a file", file: name)
    }
    do { handle = try FileHandle(forReadingFrom: url) } catch { throw StoreError(reading: name, error) }
  }

  private init(name: String, handle: FileHandle) {
    self.name = name
    self.handle = handle
  }

  public static var standardInput: InputFile {
    isUsed.store(true, ordering: .relaxed)
    return InputFile(name: "standard input", handle: .standardInput)
  }

  private static let isUsed = Atomic<Bool>(false)

  /// Whether the program may have read from its standard input.
  package static var standardInputIsUsed: Bool { isUsed.load(ordering: .relaxed) }

  /// The next bytes, at most 256 KiB; `nil` at the end.
  public func read() throws -> [UInt8]? {
    do {
      guard let data = try handle.read(upToCount: 256 << 10), !data.isEmpty else { return nil }
      return Array(data)
    } catch {
      throw StoreError(reading: name, error)
    }
  }

  public func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try read() { bytes += piece }
    return bytes
  }
}

extension StoreError {
  fileprivate init(reading name: String, _ error: any Error) {
    switch (error as? CocoaError)?.code {
    case .fileNoSuchFile, .fileReadNoSuchFile:
      self.init(.fileNotFound, "there is no such file", file: name)
    case .fileReadNoPermission:
      self.init(.permissionDenied, "this file may not be read", file: name)
    default: self.init(.inputOutput, "\(error)", file: name)
    }
  }
}
