import FileDB
import FileDBExchange
import FileDBStorage
import Foundation

/// What ``wgIo`` and ``StorePaths`` do with files and folders.
extension FileInfo {
  /// Whether `url` exists and is not a folder, or is a link that leads to such a thing. It is `false` for a link that
  /// leads nowhere, and if the system cannot tell.
  package static func isFile(_ url: URL) -> Bool {
    guard let path = try? path(of: url), let status = try? StoreDisk.system.status(path) else { return false }
    return status.kind != .folder
  }

  /// Returns the text of a UTF-8 file, exactly as it is in the file.
  /// - Throws: ``StoreError/Code/notText`` with the first line that is not UTF-8; ``StoreError/Code/notAFile`` for a folder;
  ///   ``StoreError/Code/fileNotFound``, ``StoreError/Code/permissionDenied``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/inputOutput``.
  /// - Complexity: O(*n*) in the bytes of the file, which are all held in memory.
  package static func readText(from url: URL) throws -> String {
    let path = try path(of: url)
    guard !isFolder(url) else {
      throw StoreError(.notAFile, "a folder has no text", file: path)
    }
    let bytes = try StoreDisk.system.read(path).bytes
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // A line feed is never part of a longer character, so each line can be checked by itself.
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
    throw StoreError(.notText, "this is not UTF-8 text", file: path, line: line.map { $0 + 1 })
  }

  /// Returns the names of everything in a folder, including hidden files, in the order of their UTF-8 bytes.
  /// - Throws: ``StoreError/Code/notAFolder`` for a file; ``StoreError/Code/fileNotFound``,
  ///   ``StoreError/Code/permissionDenied``, ``StoreError/Code/invalidPath``, ``StoreError/Code/inputOutput``.
  /// - Complexity: O(*n* log *n*).
  package static func contents(ofFolder url: URL) throws -> [String] {
    let path = try path(of: url)
    guard !isFile(url) else {
      throw StoreError(.notAFolder, "this is not a folder", file: path)
    }
    let names = try StoreDisk.system.list(path)
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Creates a folder, and the folders above it. It is not an error if the folder already exists.
  /// - Throws: ``StoreError/Code/notAFolder``, with the path, if a file or a broken link is in the way;
  ///   ``StoreError/Code/permissionDenied``, ``StoreError/Code/diskFull``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/inputOutput``.
  package static func createFolder(at url: URL) throws {
    let path = try path(of: url)
    do {
      try StoreDisk.system.createFolder(path)
    } catch {
      if let obstacle = obstacle(toFolder: path) {
        throw StoreError(.notAFolder, "this is not a folder, but a folder is needed", file: obstacle)
      }
      throw error
    }
  }

  /// What is at `path`, or above it, and is not a folder.
  private static func obstacle(toFolder path: String) -> String? {
    var path = path
    while path != "/" {
      let url = URL(fileURLWithPath: path)
      if (try? FileInfo(at: url)) != nil { return isFolder(url) ? nil : path }
      path = parentFolder(of: path)
    }
    return nil
  }

  /// Removes a file or a link. For a link, it does not remove what the link leads to. It never removes a folder, not
  /// even an empty one.
  /// - Throws: ``StoreError/Code/notAFile`` for a folder; ``StoreError/Code/fileNotFound``,
  ///   ``StoreError/Code/permissionDenied``, ``StoreError/Code/invalidPath``, ``StoreError/Code/inputOutput``.
  package static func deleteFile(at url: URL) throws {
    let info = try FileInfo(at: url)
    let path = try path(of: url)
    guard info.kind != .folder else {
      throw StoreError(.notAFile, "this is a folder; only files and links are deleted", file: path)
    }
    try StoreDisk.system.remove(path)
  }
}

extension StoreError.Code {
  /// A folder was found instead of a file.
  public static let notAFile = Self(rawValue: "notAFile")
  /// A file that should be text has bytes that are not UTF-8.
  public static let notText = Self(rawValue: "notText")
}
