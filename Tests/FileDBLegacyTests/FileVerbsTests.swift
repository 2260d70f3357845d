import FileDBExchange
import FileDBLegacy
import Foundation
import TestSupport
import Testing

private func link(_ url: URL, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
}

private let badURLs = ["https://example.org/a", "file:///tmp/a%00b"].compactMap { URL(string: $0) }

private func exists(_ url: URL) -> Bool { (try? FileInfo(at: url)) != nil }

@Suite struct FileVerbsTests {
  @Test func textIsReadUnchanged() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("a.txt")
      for text in ["", "two\r\nlines, e\u{301} and é 🥛\n", "\u{FEFF}mark"] {
        try Data(text.utf8).write(to: file)
        #expect(Array(try FileInfo.readText(from: file).utf8) == Array(text.utf8))
      }
    }
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func textMustBeUTF8(bytes: [UInt8]) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("a.txt")
      try (Data("één\ntwo\n".utf8) + bytes + Data("\nfour \u{FFFD}".utf8)).write(to: file)
      let error = storeError { _ = try FileInfo.readText(from: file) }
      #expect(error?.code == .notText)
      #expect(error?.file == file.path)
      #expect(error?.line == 3)
    }
  }

  @Test func readingTextOfFolderIsAnError() throws {
    try withTemporaryFolder { folder in
      #expect(storeError { _ = try FileInfo.readText(from: folder) }?.code == .notAFile)
    }
  }

  @Test func folderContentsAreSortedByBytes() throws {
    try withTemporaryFolder { folder in
      let names = [".hidden", "B", "a", "a b", "e\u{301}", "f", "~"]
      for name in names.shuffled() { try Data().write(to: folder.appendingPathComponent(name)) }
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("sub/below"), withIntermediateDirectories: true)
      #expect(try FileInfo.contents(ofFolder: folder) == names.dropLast() + ["sub", "~"])
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("sub")) == ["below"])

      try link(folder.appendingPathComponent("link"), to: "sub")
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("link")) == ["below"])
      let file = storeError { _ = try FileInfo.contents(ofFolder: folder.appendingPathComponent("a")) }
      #expect(file?.code == .notAFolder)
    }
  }

  @Test func createFolderMakesMissingParents() throws {
    try withTemporaryFolder { folder in
      let deep = folder.appendingPathComponent("a/b/c")
      try FileInfo.createFolder(at: deep)
      #expect(FileInfo.isFolder(deep))
      try Data().write(to: deep.appendingPathComponent("file"))
      try FileInfo.createFolder(at: deep)
      #expect(try FileInfo.contents(ofFolder: deep) == ["file"])

      try link(folder.appendingPathComponent("link"), to: "a")
      try FileInfo.createFolder(at: folder.appendingPathComponent("link/d"))
      #expect(FileInfo.isFolder(folder.appendingPathComponent("a/d")))
    }
  }

  @Test(arguments: ["file", "file/sub", "file/sub/below", "broken", "broken/sub"])
  func createFolderNamesFileInItsWay(path: String) throws {
    try withTemporaryFolder { folder in
      try Data("kept".utf8).write(to: folder.appendingPathComponent("file"))
      try link(folder.appendingPathComponent("broken"), to: "nowhere")
      let obstacle = String(path.prefix { $0 != "/" })
      let error = storeError { try FileInfo.createFolder(at: folder.appendingPathComponent(path)) }
      #expect(error?.code == .notAFolder)
      #expect(error?.file == folder.appendingPathComponent(obstacle).path)
      #expect(try FileInfo.readText(from: folder.appendingPathComponent("file")) == "kept")
      #expect(!exists(folder.appendingPathComponent("nowhere")))
    }
  }

  @Test func errorNamesMissingFile() throws {
    try withTemporaryFolder { folder in
      let missing = folder.appendingPathComponent("missing")
      for (name, verb) in [
        ("readText", { _ = try FileInfo.readText(from: missing) }),
        ("contents", { _ = try FileInfo.contents(ofFolder: missing) }),
        ("deleteFile", { try FileInfo.deleteFile(at: missing) }),
      ] as [(String, () throws -> Void)] {
        let error = storeError(verb)
        #expect(error?.code == .fileNotFound, "\(name)")
        #expect(error?.file == missing.path, "\(name)")
        #expect(error?.errno == ENOENT, "\(name)")
      }
    }
  }

  @Test(arguments: badURLs) func urlsThatAreNoPathsAreRefused(url: URL) {
    #expect(badURLs.count == 2)
    for verb in [
      { _ = try FileInfo.readText(from: url) }, { _ = try FileInfo.contents(ofFolder: url) },
      { try FileInfo.createFolder(at: url) }, { try FileInfo.deleteFile(at: url) },
    ] as [() throws -> Void] {
      #expect(storeError(verb)?.code == .invalidPath)
    }
    #expect(!FileInfo.isFile(url))
  }

  @Test func percentSignInPathIsLiteral() throws {
    try withTemporaryFolder { folder in
      try Data("x".utf8).write(to: folder.appendingPathComponent("a%00b"))
      #expect(try FileInfo.contents(ofFolder: folder) == ["a%00b"])
    }
  }

  @Test func systemErrorsKeepTheirErrno() throws {
    try withTemporaryFolder { folder in
      let name = folder.appendingPathComponent(String(repeating: "n", count: 300))
      for verb in [
        { _ = try FileInfo(at: name) }, { try FileInfo.createFolder(at: name) },
        { try FileInfo.deleteFile(at: name) },
      ] as [() throws -> Void] {
        let error = storeError(verb)
        #expect(error?.code == .inputOutput)
        #expect(error?.errno == ENAMETOOLONG)
      }
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may do everything"))
  func deniedAccessIsAPermissionError() throws {
    try withTemporaryFolder { folder in
      let closed = folder.appendingPathComponent("closed")
      try FileInfo.createFolder(at: closed)
      try Data().write(to: closed.appendingPathComponent("file"))
      #expect(chmod(closed.path, 0) == 0)
      defer { chmod(closed.path, 0o700) }
      for verb in [
        { _ = try FileInfo(at: closed.appendingPathComponent("file")) },
        { _ = try FileInfo.readText(from: closed.appendingPathComponent("file")) },
        { _ = try FileInfo.contents(ofFolder: closed) },
        { try FileInfo.createFolder(at: closed.appendingPathComponent("sub")) },
        { try FileInfo.deleteFile(at: closed.appendingPathComponent("file")) },
      ] as [() throws -> Void] {
        #expect(storeError(verb)?.code == .permissionDenied)
      }
    }
  }

  @Test func isFileAndIsFolderFollowLinks() throws {
    try withTemporaryFolder { folder in
      let names = ["file", "to file", "to folder", "to nothing", "missing"]
      let urls = names.map { folder.appendingPathComponent($0) }
      try Data().write(to: urls[0])
      try link(urls[1], to: "file")
      try link(urls[2], to: ".")
      try link(urls[3], to: "nothing")
      #expect(urls.map(FileInfo.isFile) == [true, true, false, false, false])
      #expect(urls.map(FileInfo.isFolder) == [false, false, true, false, false])
      #expect(FileInfo.isFolder(folder) && !FileInfo.isFile(folder))
    }
  }

  @Test func deleteFileRemovesFilesAndLinksButNoFolders() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      try FileInfo.createFolder(at: folder.appendingPathComponent("sub/below"))
      try link(folder.appendingPathComponent("to file"), to: "file")
      try link(folder.appendingPathComponent("to folder"), to: "sub")
      try link(folder.appendingPathComponent("to nothing"), to: "nothing")

      for name in ["to file", "to folder", "to nothing"] {
        try FileInfo.deleteFile(at: folder.appendingPathComponent(name))
      }
      #expect(try FileInfo.contents(ofFolder: folder) == ["file", "sub"])
      try FileInfo.deleteFile(at: file)
      for name in ["sub", "sub/below"] {
        let error = storeError { try FileInfo.deleteFile(at: folder.appendingPathComponent(name)) }
        #expect(error?.code == .notAFile)
        #expect(error?.file == folder.appendingPathComponent(name).path)
      }
      #expect(try FileInfo.contents(ofFolder: folder) == ["sub"])
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("sub")) == ["below"])
    }
  }
}
