import FileDB
import Foundation

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// The class wgIo of 2010, by ``FileInfo``.
///
/// The functions that the original gave a truth value return one, false for any failure; the others throw
/// ``StoreError``. A path is taken as it stands: a `~` at its start is a folder of that name.
public enum wgIo {
  /// `readFile:`: the text of a UTF-8 file.
  /// - Throws: as ``FileInfo/readText(from:)``.
  public static func readFile(_ filePath: String) throws -> String {
    try FileInfo.readText(from: url(filePath))
  }

  /// `getFileAttributes:`: what Foundation knows about a file, a folder, or a link itself.
  /// - Throws: as ``FileInfo/init(at:)``; a `CocoaError` where the file goes away meanwhile.
  public static func getFileAttributes(_ path: String) throws -> [FileAttributeKey: Any] {
    let info = try FileInfo(at: url(path))
    var attributes = try FileManager.default.attributesOfItem(atPath: FileInfo.path(of: info.url))
    // On Linux Foundation gives the time of the last change of status for it.
    attributes[.creationDate] = info.created
    return attributes
  }

  /// `getFilesArray:`: the names in a folder, in the order of their bytes, without `~`. The original listed
  /// ``wgPaths/filesDirectory()`` whatever it was asked.
  /// - Throws: as ``FileInfo/contents(ofFolder:)``.
  public static func getFilesArray(_ path: String) throws -> [String] {
    try FileInfo.contents(ofFolder: url(path)).filter { $0 != "~" }
  }

  /// `getFileSize:`, in bytes.
  /// - Throws: as ``FileInfo/init(at:)``.
  public static func getFileSize(_ path: String) throws -> Int { Int(try FileInfo(at: url(path)).size) }

  /// `getFileExtension:`: what comes after the last dot of the name. The file need not be there.
  public static func getFileExtension(_ path: String) -> String { url(path).pathExtension }

  /// `getFormatedFileSize:`, such as `1.50 MB`; see ``FileInfo/formattedSize``. The original lost the decimals and
  /// wrote `Mb`.
  /// - Throws: as ``FileInfo/init(at:)``.
  public static func getFormatedFileSize(_ path: String) throws -> String {
    try FileInfo(at: url(path)).formattedSize
  }

  /// `getFileCreated:`, such as `2010-02-23 15:34:21 +0000`; `nil` where the system does not tell, which on Linux is
  /// always.
  /// - Throws: as ``FileInfo/init(at:)``.
  public static func getFileCreated(_ path: String) throws -> String? {
    try FileInfo(at: url(path)).created?.description
  }

  /// `createFolderIfNotExists:`: makes a folder, and those above it, which the original did not.
  /// - Returns: whether the folder is there now.
  @discardableResult
  public static func createFolderIfNotExists(_ path: String) -> Bool {
    succeeds { try FileInfo.createFolder(at: url(path)) }
  }

  /// `isDirectory:`: whether a folder is there, or a link to one.
  public static func isDirectory(_ path: String) -> Bool { FileInfo.isFolder(url(path)) }

  /// `isFile:`: whether something else than a folder is there, or a link to it.
  public static func isFile(_ path: String) -> Bool { FileInfo.isFile(url(path)) }

  /// `deleteFile:`: removes a file or a link. The original removed a folder with all that was in it; this never does.
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

  /// Foundation would take a `~` at the start for the user's home.
  private static func url(_ path: String) -> URL {
    URL(fileURLWithPath: path.hasPrefix("~") ? "./" + path : path)
  }
}
