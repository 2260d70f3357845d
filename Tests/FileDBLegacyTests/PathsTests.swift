import FileDBLegacy
import Foundation
import Testing

extension LegacyTests {
  @Suite struct PathsTests {
    @Test func foldersHavePathsOfOriginalClass() throws {
      try LegacyTests.withRoot { root in
        for (path, expected) in [
          (try wgPaths.tempDirectory(), "/~/temp/"), (try wgPaths.confDirectory(), "/~/config/"),
          (try wgPaths.documentsDirectory(), ""), (try wgPaths.filesDirectory(), "/files/"),
          (try wgPaths.webDirectory(), "/~/htdocs/"), (try wgPaths.databaseDirectory(), "/~/db/"),
          (try wgPaths.systemDirectory(), "/~/system/"), (try wgPaths.cacheDirectory(), "/~/system/cache/"),
          (try wgPaths.imageCacheDirectory(), "/~/system/cache/imagecache/"),
          (try wgPaths.imageCacheDirectory("small"), "/~/system/cache/imagecache/small/"),
        ] {
          #expect(path == root.path + expected)
          #expect(wgIo.isDirectory(path), "\(expected)")
        }
      }
    }

    @Test func sqlFileMakesItsFolderButNoFile() throws {
      try LegacyTests.withRoot { root in
        let path = try wgPaths.sqlFile("shop")
        #expect(path == root.path + "/~/db/shop.sqlite3")
        #expect(!wgIo.isDirectory(path) && !wgIo.isFile(path))
        #expect(wgIo.isDirectory(root.path + "/~/db"))
      }
    }

    @Test func namesOutsideTheRootAreRefused() throws {
      try LegacyTests.withRoot { root in
        for name in ["..", "../../x", "/x", ""] {
          #expect(LegacyTests.error { try wgPaths.sqlFile(name) }?.code == .invalidPath)
          #expect(LegacyTests.error { try wgPaths.imageCacheDirectory(name) }?.code == .invalidPath)
        }
        #expect(!wgIo.isDirectory(root.path))
      }
    }

    @Test func rootIsNilUnlessSet() throws {
      #expect(wgPaths.root == nil)
      try LegacyTests.withRoot { root in #expect(wgPaths.root == root) }
      #expect(wgPaths.root == nil)
    }
  }
}
