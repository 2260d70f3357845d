import FileDBLegacy
import Foundation
import Testing

extension LegacyTests {
  @Suite struct IoTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
      try LegacyTests.withRoot { root in
        #expect(wgIo.createFolderIfNotExists(root.path))
        try body(root.path)
      }
    }

    private func write(_ text: String, to path: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test func readFileReturnsText() throws {
      try withFolder { folder in
        try write("Jiří\n", to: folder + "/a.txt")
        #expect(try wgIo.readFile(folder + "/a.txt") == "Jiří\n")
        #expect(LegacyTests.error { _ = try wgIo.readFile(folder + "/b") }?.code == .fileNotFound)
      }
    }

    @Test func attributesSizeAndExtensionOfFileAreReturned() throws {
      try withFolder { folder in
        let file = folder + "/photo.tar.gz"
        try write(String(repeating: "x", count: 1_572_864), to: file)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o640, .modificationDate: Date(timeIntervalSince1970: 1_266_939_261)],
          ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: file)

        let attributes = try wgIo.getFileAttributes(file)
        #expect((attributes[.size] as? NSNumber)?.intValue == 1_572_864)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_266_939_261))
        #expect(attributes[.type] as? FileAttributeType == .typeRegular)
        #expect(
          try wgIo.getFileAttributes(folder + "/link")[.type] as? FileAttributeType == .typeSymbolicLink)
        #expect(try wgIo.getFileSize(file) == 1_572_864)
        #expect(try wgIo.getFileSize(folder + "/link") == file.utf8.count)
        #expect(try wgIo.getFormatedFileSize(file) == "1.50 MB")
        #expect(wgIo.getFileExtension(file) == "gz")
        #expect(wgIo.getFileExtension("/no/such/a.png") == "png")
        #expect(wgIo.getFileExtension("a") == "")
        let created = attributes[.creationDate] as? Date
        #expect(try wgIo.getFileCreated(file) == created?.description)
        #if canImport(Darwin)
          #expect(created != nil)
        #else
          #expect(created == nil)
        #endif
        for verb in [
          { _ = try wgIo.getFileAttributes(folder + "/b") }, { _ = try wgIo.getFileSize(folder + "/b") },
          { _ = try wgIo.getFormatedFileSize(folder + "/b") }, { _ = try wgIo.getFileCreated(folder + "/b") },
          { _ = try wgIo.getFilesArray(folder + "/b") },
        ] as [() throws -> Void] {
          #expect(LegacyTests.error(verb)?.code == .fileNotFound)
        }
      }
    }

    @Test func getFilesArrayListsGivenFolder() throws {
      try withFolder { folder in
        try write("", to: wgPaths.filesDirectory() + "elsewhere")
        for name in ["b", "a", ".c", "~", "~a"] { try write("", to: folder + "/" + name) }
        #expect(try wgIo.getFilesArray(folder) == [".c", "a", "b", "files", "~a"])
        #expect(try wgIo.getFilesArray(folder + "/") == [".c", "a", "b", "files", "~a"])
      }
    }

    @Test func foldersAreMadeAndRecognized() throws {
      try withFolder { folder in
        try write("", to: folder + "/file")
        #expect(wgIo.createFolderIfNotExists(folder + "/a/b/"))
        #expect(wgIo.createFolderIfNotExists(folder + "/a/b"))
        #expect(!wgIo.createFolderIfNotExists(folder + "/file"))
        #expect(!wgIo.createFolderIfNotExists(folder + "/file/a"))
        #expect(
          ["a", "a/b/", "file", "none"].map { wgIo.isDirectory(folder + "/" + $0) } == [
            true, true, false, false,
          ])
        #expect(["a", "file", "none"].map { wgIo.isFile(folder + "/" + $0) } == [false, true, false])
      }
    }

    @Test func deleteFileRemovesFilesButNotFolders() throws {
      try withFolder { folder in
        try write("", to: folder + "/file")
        #expect(wgIo.deleteFile(folder + "/file"))
        #expect(!wgIo.isFile(folder + "/file"))
        #expect(!wgIo.deleteFile(folder + "/file"))
        #expect(wgIo.createFolderIfNotExists(folder + "/a"))
        try write("", to: folder + "/a/kept")
        #expect(!wgIo.deleteFile(folder + "/a"))
        #expect(wgIo.isFile(folder + "/a/kept"))
      }
    }

    /// Foundation reads a leading `~` as the home folder, where a file could be deleted that nobody meant.
    @Test func tildeIsNotHomeFolder() throws {
      #expect(wgIo.isDirectory(NSHomeDirectory()))
      #expect(!wgIo.isDirectory("~"))
      #expect(LegacyTests.error { _ = try wgIo.getFileSize("~/") }?.file?.hasSuffix("/~") == true)
    }
  }
}
