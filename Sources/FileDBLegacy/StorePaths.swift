import FileDBExchange
import Foundation

/// The folders of an application beside its store, in the layout of wgPaths: the user's own files are in the root, and
/// everything else is under a folder named `~`.
///
///     ROOT/                      documents
///     ROOT/files/                files
///     ROOT/~/config/             config
///     ROOT/~/db/                 databases
///     ROOT/~/db/wgFileDb/        fileDB, where wgFileDb kept its tables
///     ROOT/~/db/NAME.sqlite3     sqlFile(named:)
///     ROOT/~/htdocs/             web
///     ROOT/~/system/             system
///     ROOT/~/system/cache/       cache
///     ROOT/~/system/cache/imagecache/    imageCache
///     ROOT/~/temp/               temporary
///
/// Each folder is created when you ask for it. All of them throw ``StoreError/Code/notAFolder`` if a file is in the
/// way, ``StoreError/Code/permissionDenied``, ``StoreError/Code/diskFull``, or ``StoreError/Code/inputOutput``.
public struct StorePaths: Hashable, Sendable {
  /// The folder that holds the tree.
  public let root: URL

  /// The tree in the folder `root`, which need not exist yet.
  /// - Throws: ``StoreError/Code/invalidPath`` if `root` is not a file URL or contains a NUL.
  public init(root: URL) throws {
    self.root = URL(fileURLWithPath: try FileInfo.path(of: root), isDirectory: true)
  }

  /// The tree in the user's documents folder.
  /// - Throws: ``StoreError/Code/fileNotFound`` if the system names no such folder.
  public init() throws {
    guard let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first else {
      throw StoreError(.fileNotFound, "this user has no documents folder")
    }
    try self.init(root: documents)
  }

  /// The root itself. As in wgPaths, this also creates the folder `~` in it.
  public var documents: URL {
    get throws {
      _ = try folder("~")
      return root
    }
  }

  /// The user's files.
  public var files: URL { get throws { try folder("files") } }

  /// Settings.
  public var config: URL { get throws { try folder("~/config") } }

  /// Files that may be deleted. Nothing deletes them automatically.
  public var temporary: URL { get throws { try folder("~/temp") } }

  /// The pages of a built-in web server.
  public var web: URL { get throws { try folder("~/htdocs") } }

  /// Databases of every kind.
  public var databases: URL { get throws { try folder("~/db") } }

  /// The store in which wgFileDb kept its tables.
  public var fileDB: URL { get throws { try folder("~/db/wgFileDb") } }

  /// Files of the application itself.
  public var system: URL { get throws { try folder("~/system") } }

  /// Files that can be fetched or computed again.
  public var cache: URL { get throws { try folder("~/system/cache") } }

  /// Images that can be fetched again.
  public var imageCache: URL { get throws { try folder("~/system/cache/imagecache") } }

  /// A folder in ``imageCache``, such as `thumbnails` or `thumbnails/small`.
  /// - Throws: ``StoreError/Code/invalidPath`` if the subfolder is empty, is absolute, holds a NUL, or has an empty part,
  ///   `.` or `..` in it; otherwise as the folders do.
  public func imageCache(subfolder: String) throws -> URL {
    try checkRelative(subfolder)
    return try folder("~/system/cache/imagecache/\(subfolder)")
  }

  /// The file for the SQLite database `name`. This creates its folder, but not the file: SQLite creates that.
  /// - Throws: ``StoreError/Code/invalidPath`` if the name is empty, `.` or `..`, or holds `/` or a NUL; otherwise as the
  ///   folders do.
  public func sqlFile(named name: String) throws -> URL {
    try checkRelative(name)
    guard !name.utf8.contains(UInt8(ascii: "/")) else {
      throw StoreError(.invalidPath, "the database name '\(name)' must not hold '/'")
    }
    return URL(fileURLWithPath: "\(try databases.path)/\(name).sqlite3", isDirectory: false)
  }

  private func folder(_ relative: String) throws -> URL {
    let url = URL(fileURLWithPath: "\(root.path)/\(relative)", isDirectory: true)
    try FileInfo.createFolder(at: url)
    return url
  }

  /// Compares bytes: for Swift, a `/` and an accent after it are one character.
  private func checkRelative(_ path: String) throws(StoreError) {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let leads = parts.contains { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    if leads || path.utf8.contains(0) {
      throw StoreError(
        .invalidPath,
        "'\(path)' must be names joined by '/': not absolute, and no part empty, '.', '..' or with a NUL")
    }
  }
}
