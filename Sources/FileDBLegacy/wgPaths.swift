import FileDB
import Foundation
import Synchronization

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// The class wgPaths of 2010, based on ``StorePaths``: the folders of an application. Each is created when you ask for
/// it.
///
/// As in the original, the paths end in `/`, except those of ``documentsDirectory()`` and ``sqlFile(_:)``. All
/// functions throw the errors of ``StorePaths``, and ``StoreError/Code/fileNotFound`` if ``root`` is `nil` and the
/// system names no documents folder.
public enum wgPaths {
  private static let chosenRoot = Mutex<URL?>(nil)

  /// The folder that holds everything; `nil`, the default, for the user's documents folder. Set it before the first
  /// use, because a store that is already open stays in the old root. Any thread may set it.
  public static var root: URL? {
    get { chosenRoot.withLock { $0 } }
    set { chosenRoot.withLock { $0 = newValue } }
  }

  static var paths: StorePaths { get throws { try root.map { try StorePaths(root: $0) } ?? StorePaths() } }

  /// `~/temp/`.
  @discardableResult
  public static func tempDirectory() throws -> String { folder(try paths.temporary) }

  /// `~/config/`.
  @discardableResult
  public static func confDirectory() throws -> String { folder(try paths.config) }

  /// The root, without `/` at the end.
  @discardableResult
  public static func documentsDirectory() throws -> String { try paths.documents.path }

  /// `files/`.
  @discardableResult
  public static func filesDirectory() throws -> String { folder(try paths.files) }

  /// `~/htdocs/`.
  @discardableResult
  public static func webDirectory() throws -> String { folder(try paths.web) }

  /// `~/db/`.
  @discardableResult
  public static func databaseDirectory() throws -> String { folder(try paths.databases) }

  /// `~/system/`.
  @discardableResult
  public static func systemDirectory() throws -> String { folder(try paths.system) }

  /// `~/system/cache/`.
  @discardableResult
  public static func cacheDirectory() throws -> String { folder(try paths.cache) }

  /// `~/system/cache/imagecache/`.
  @discardableResult
  public static func imageCacheDirectory() throws -> String { folder(try paths.imageCache) }

  /// `imageCacheDirectory:`, `~/system/cache/imagecache/SUBFOLDER/`.
  /// - Throws: ``StoreError/Code/invalidPath``; see ``StorePaths/imageCache(subfolder:)``.
  @discardableResult
  public static func imageCacheDirectory(_ subFolder: String) throws -> String {
    folder(try paths.imageCache(subfolder: subFolder))
  }

  /// `sqlFile:`, `~/db/NAME.sqlite3`. The original created a folder of this name, so SQLite could not open it.
  /// - Throws: ``StoreError/Code/invalidPath``; see ``StorePaths/sqlFile(named:)``.
  @discardableResult
  public static func sqlFile(_ databaseName: String) throws -> String {
    try paths.sqlFile(named: databaseName).path
  }

  private static func folder(_ url: URL) -> String { url.path + "/" }
}
