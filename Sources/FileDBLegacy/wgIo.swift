import FileDB
import FileDBExchange
import Foundation

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// The class wgIo of 2010.
///
/// Functions that returned a truth value in the original still do, and return `false` for any failure. The others throw
/// ``StoreError``. Paths are taken literally: a `~` at the start is a folder of that name.
public enum wgIo {
  /// `readFile:`: the text of a UTF-8 file.
  /// - Throws: ``StoreError/Code/notText``, ``StoreError/Code/notAFile``, ``StoreError/Code/fileNotFound``,
  ///   ``StoreError/Code/permissionDenied``, ``StoreError/Code/invalidPath``.
  public static func readFile(_ filePath: String) throws -> String {
    try FileInfo.readText(from: url(filePath))
  }

  /// `getFileAttributes:`: what Foundation knows about a file, a folder, or a link itself.
  /// - Throws: as ``getFileSize(_:)``; a `CocoaError` if the file is removed meanwhile.
  public static func getFileAttributes(_ path: String) throws -> [FileAttributeKey: Any] {
    let info = try FileInfo(at: url(path))
    var attributes = try FileManager.default.attributesOfItem(atPath: FileInfo.path(of: info.url))
    // On Linux, Foundation uses the time of the last status change instead.
    attributes[.creationDate] = info.created
    return attributes
  }

  /// `getFilesArray:`: the names in a folder, in the order of their bytes, without `~`. The original always listed
  /// ``wgPaths/filesDirectory()``.
  /// - Throws: ``StoreError/Code/notAFolder`` for a file, and as ``getFileSize(_:)``.
  public static func getFilesArray(_ path: String) throws -> [String] {
    try FileInfo.contents(ofFolder: url(path)).filter { $0 != "~" }
  }

  /// `getFileSize:`, in bytes.
  /// - Throws: ``StoreError/Code/fileNotFound``, ``StoreError/Code/permissionDenied``, ``StoreError/Code/invalidPath``.
  public static func getFileSize(_ path: String) throws -> Int { Int(try FileInfo(at: url(path)).size) }

  /// `getFileExtension:`: the part of the name after the last dot. The file need not exist.
  public static func getFileExtension(_ path: String) -> String { url(path).pathExtension }

  /// `getFormatedFileSize:`, such as `1.50 MB`, in powers of 1024. The original lost the decimals and wrote
  /// `Mb`.
  /// - Throws: as ``getFileSize(_:)``.
  public static func getFormatedFileSize(_ path: String) throws -> String {
    try FileInfo(at: url(path)).formattedSize
  }

  /// `getFileCreated:`, such as `2010-02-23 15:34:21 +0000`; `nil` if the system does not tell, as
  /// always on Linux.
  /// - Throws: as ``getFileSize(_:)``.
  public static func getFileCreated(_ path: String) throws -> String? {
    try FileInfo(at: url(path)).created?.description
  }

  /// `createFolderIfNotExists:`: creates a folder, and unlike the original also those above it.
  /// - Returns: whether the folder exists now.
  @discardableResult
  public static func createFolderIfNotExists(_ path: String) -> Bool {
    succeeds { try FileInfo.createFolder(at: url(path)) }
  }

  /// `isDirectory:`: whether the path is a folder, or a link to one.
  public static func isDirectory(_ path: String) -> Bool { FileInfo.isFolder(url(path)) }

  /// `isFile:`: whether the path exists and is not a folder, or is a link to such a thing.
  public static func isFile(_ path: String) -> Bool { FileInfo.isFile(url(path)) }

  /// `deleteFile:`: removes a file or a link. The original removed a folder with everything in it; this never does.
  /// - Returns: whether it was removed.
  @discardableResult
  public static func deleteFile(_ path: String) -> Bool {
    succeeds { try FileInfo.deleteFile(at: url(path)) }
  }

  private static func succeeds(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return true
    } catch {
      return false
    }
  }

  /// Foundation would replace a `~` at the start by the user's home folder.
  private static func url(_ path: String) -> URL {
    URL(fileURLWithPath: path.hasPrefix("~") ? "./" + path : path)
  }
}
