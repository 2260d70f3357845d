import FileDB
import FileDBExchange
import FileDBLegacy
import Foundation
import Testing

/// A folder for one test, gone after it.
private func withFolder(_ body: (URL) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("FileDB-paths-\(UUID().uuidString)", isDirectory: true)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try body(folder)
}

private func exists(_ url: URL) -> Bool { (try? FileInfo(at: url)) != nil }

private func error(_ body: () throws -> Void) -> StoreError? {
  do { try body() } catch { return error as? StoreError }
  return nil
}

@Suite struct StorePathsTests {
  @Test(arguments: ["https://example.org/a", "file:///tmp/a%00b"])
  func urlThatIsNotAFilePathIsRefused(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(error { _ = try StorePaths(root: url) }?.code == .invalidPath)
  }

  @Test func foldersHaveLayoutOfOriginalClass() throws {
    try withFolder { folder in
      let root = folder.appendingPathComponent("ro ot#1")
      let paths = try StorePaths(root: root)
      #expect(!exists(root), "nothing is made before it is asked for")
      for (name, url, path) in [
        ("documents", { try paths.documents }, ""),
        ("files", { try paths.files }, "/files"),
        ("config", { try paths.config }, "/~/config"),
        ("temporary", { try paths.temporary }, "/~/temp"),
        ("web", { try paths.web }, "/~/htdocs"),
        ("databases", { try paths.databases }, "/~/db"),
        ("fileDB", { try paths.fileDB }, "/~/db/wgFileDb"),
        ("system", { try paths.system }, "/~/system"),
        ("cache", { try paths.cache }, "/~/system/cache"),
        ("imageCache", { try paths.imageCache }, "/~/system/cache/imagecache"),
        ("small", { try paths.imageCache(subfolder: "a/small") }, "/~/system/cache/imagecache/a/small"),
      ] as [(String, () throws -> URL, String)] {
        try? FileManager.default.removeItem(at: root)
        let made = try url()
        #expect(made.path == root.path + path, "\(name)")
        #expect(FileInfo.isFolder(made), "\(name)")
        #expect(made.hasDirectoryPath, "\(name)")
        #expect(try url() == made, "\(name)")
      }
      _ = try paths.documents
      #expect(FileInfo.isFolder(root.appendingPathComponent("~")))
    }
  }

  @Test func sqlFileMakesItsFolderButNoFile() throws {
    try withFolder { folder in
      let paths = try StorePaths(root: folder)
      let file = try paths.sqlFile(named: "shop.v2")
      #expect(file.path == folder.path + "/~/db/shop.v2.sqlite3")
      #expect(!exists(file))
      #expect(!file.hasDirectoryPath)
      #expect(try FileInfo.contents(ofFolder: folder) == ["~"])
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("~/db")) == [])
      try Data().write(to: file)
      #expect(try paths.sqlFile(named: "shop.v2") == file)
    }
  }

  @Test(
    arguments: [
      "", "/", "/etc", "..", ".", "../x", "a/..", "a/../../b", "./a", "a//b", "a/", "a\0b", "\0",
      "..\u{2F}\u{301}x",  // To Swift the `/` and the accent are one character.
    ])
  func namesOutsideTheRootAreRefused(name: String) throws {
    try withFolder { folder in
      let root = folder.appendingPathComponent("root")
      let paths = try StorePaths(root: root)
      #expect(error { _ = try paths.imageCache(subfolder: name) }?.code == .invalidPath)
      #expect(error { _ = try paths.sqlFile(named: name) }?.code == .invalidPath)
      #expect(!exists(root))
    }
  }

  @Test func databaseNameMustNotContainFolders() throws {
    try withFolder { folder in
      let paths = try StorePaths(root: folder)
      #expect(error { _ = try paths.sqlFile(named: "a/b") }?.code == .invalidPath)
      #expect(try paths.imageCache(subfolder: "..a/b..").lastPathComponent == "b..")
    }
  }

  @Test func fileInPlaceOfFolderIsAnError() throws {
    try withFolder { folder in
      try Data().write(to: folder.appendingPathComponent("~"))
      let error = error { _ = try StorePaths(root: folder).cache }
      #expect(error?.code == .notAFolder)
      #expect(error?.file == folder.path + "/~")
    }
  }

  @Test func rootIsDocumentsFolderByDefault() throws {
    let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
    #expect(try StorePaths().root.path == documents?.path)
  }
}
