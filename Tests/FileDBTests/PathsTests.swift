import FileDB
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

private func link(_ url: URL, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
}

private func exists(_ url: URL) -> Bool { (try? FileInfo(at: url)) != nil }

private func error(_ body: () throws -> Void) -> StoreError? {
  do { try body() } catch { return error as? StoreError }
  return nil
}

private let badURLs = ["https://example.org/a", "file:///tmp/a%00b"].compactMap { URL(string: $0) }

@Suite struct FileInfoTests {
  @Test func describesEachKind() throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("a.tar.gz")
      let toFile = folder.appendingPathComponent("to file")
      let toNothing = folder.appendingPathComponent("to nothing")
      let pipe = folder.appendingPathComponent("pipe")
      try Data("12345".utf8).write(to: file)
      try link(toFile, to: "a.tar.gz")
      try link(toNothing, to: "nothing")
      #expect(mkfifo(pipe.path, 0o600) == 0)

      #expect(try FileInfo(at: file).kind == .file)
      #expect(try FileInfo(at: folder).kind == .folder)
      #expect(try FileInfo(at: toFile).kind == .symbolicLink)
      #expect(try FileInfo(at: toNothing).kind == .symbolicLink)
      #expect(try FileInfo(at: pipe).kind == .other)

      #expect(try FileInfo(at: file).size == 5)
      #expect(try FileInfo(at: toFile).size == 8, "of the link, not of the file")
      #expect(try FileInfo(at: file).pathExtension == "gz")
      #expect(try FileInfo(at: toFile).pathExtension == "")
      #expect(try FileInfo(at: file).url == file)
      #expect(try FileInfo(at: file).formattedSize == "5 bytes")
    }
  }

  @Test func tellsTimesAndPermissions() throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("a")
      try Data().write(to: file)
      #expect(chmod(file.path, 0o4641) == 0)
      let before = Date()
      var times = [
        timeval(tv_sec: 1_266_939_261, tv_usec: 0), timeval(tv_sec: 1_266_939_262, tv_usec: 500_000),
      ]
      #expect(utimes(file.path, &times) == 0)

      let info = try FileInfo(at: file)
      #expect(info.permissions == 0o4641)
      #expect(info.modified == Date(timeIntervalSince1970: 1_266_939_262.5))
      #if canImport(Darwin)
        #expect(info.created.map { abs($0.timeIntervalSince(before)) < 60 || $0 < before } == true)
      #else
        _ = before
        #expect(info.created == nil)
      #endif
    }
  }

  @Test func saysWhatIsMissing() throws {
    try withFolder { folder in
      let missing = folder.appendingPathComponent("missing")
      for (name, verb) in [
        ("init", { _ = try FileInfo(at: missing) }),
        ("readText", { _ = try FileInfo.readText(from: missing) }),
        ("contents", { _ = try FileInfo.contents(ofFolder: missing) }),
        ("deleteFile", { try FileInfo.deleteFile(at: missing) }),
      ] as [(String, () throws -> Void)] {
        let error = error(verb)
        #expect(error?.code == StoreError.fileNotFound, "\(name)")
        #expect(error?.file == missing.path, "\(name)")
        #expect(error?.errno == ENOENT, "\(name)")
      }
    }
  }

  @Test(arguments: badURLs) func refusesWhatIsNoPath(url: URL) {
    #expect(badURLs.count == 2)
    for verb in [
      { _ = try FileInfo(at: url) }, { _ = try FileInfo.readText(from: url) },
      { _ = try FileInfo.contents(ofFolder: url) }, { try FileInfo.createFolder(at: url) },
      { try FileInfo.deleteFile(at: url) },
    ] as [() throws -> Void] {
      #expect(error(verb)?.code == StoreError.invalidPath)
    }
    #expect(!FileInfo.isFolder(url))
    #expect(!FileInfo.isFile(url))
  }

  @Test func aPercentSignIsNoEscape() throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("a%00b")
      try Data("x".utf8).write(to: file)
      #expect(try FileInfo(at: file).size == 1)
      #expect(try FileInfo.contents(ofFolder: folder) == ["a%00b"])
    }
  }

  @Test(
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (2, "2 bytes"), (512, "512 bytes"), (1023, "1023 bytes"),
      (1024, "1.00 KB"), (1029, "1.00 KB"), (1030, "1.01 KB"), (1536, "1.50 KB"), (10_240, "10.00 KB"),
      (1_048_570, "1023.99 KB"), (1_048_571, "1.00 MB"), (1_048_575, "1.00 MB"), (1_048_576, "1.00 MB"),
      (2_097_152, "2.00 MB"), (1_073_736_581, "1023.99 MB"), (1_073_736_582, "1.00 GB"),
      (3_489_660_928, "3.25 GB"), (1_099_511_627_775, "1.00 TB"), (1_099_511_627_776, "1.00 TB"),
      (1_125_899_906_842_624, "1024.00 TB"), (Int64.max, "8388608.00 TB"),
    ] as [(Int64, String)])
  func formatsSizes(size: Int64, text: String) {
    #expect(FileInfo.formatted(size: size) == text)
  }
}

@Suite struct FileVerbsTests {
  @Test func readsTextAsItIs() throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("a.txt")
      for text in ["", "two\r\nlines, e\u{301} and é 🥛\n", "\u{FEFF}mark"] {
        try Data(text.utf8).write(to: file)
        #expect(Array(try FileInfo.readText(from: file).utf8) == Array(text.utf8))
      }
    }
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func textMustBeUTF8(bytes: [UInt8]) throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("a.txt")
      try (Data("één\ntwo\n".utf8) + bytes + Data("\nfour \u{FFFD}".utf8)).write(to: file)
      let error = error { _ = try FileInfo.readText(from: file) }
      #expect(error?.code == StoreError.notText)
      #expect(error?.file == file.path)
      #expect(error?.line == 3)
    }
  }

  @Test func aFolderHasNoText() throws {
    try withFolder { folder in
      #expect(error { _ = try FileInfo.readText(from: folder) }?.code == StoreError.notAFile)
    }
  }

  @Test func listsNamesInTheOrderOfTheirBytes() throws {
    try withFolder { folder in
      let names = [".hidden", "B", "a", "a b", "e\u{301}", "f", "~"]
      for name in names.shuffled() { try Data().write(to: folder.appendingPathComponent(name)) }
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("sub/below"), withIntermediateDirectories: true)
      #expect(try FileInfo.contents(ofFolder: folder) == names.dropLast() + ["sub", "~"])
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("sub")) == ["below"])

      try link(folder.appendingPathComponent("link"), to: "sub")
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("link")) == ["below"])
      let file = error { _ = try FileInfo.contents(ofFolder: folder.appendingPathComponent("a")) }
      #expect(file?.code == StoreError.notAFolder)
    }
  }

  @Test func makesFoldersWithThoseAboveThem() throws {
    try withFolder { folder in
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
  func saysWhatIsInTheWayOfAFolder(path: String) throws {
    try withFolder { folder in
      try Data("kept".utf8).write(to: folder.appendingPathComponent("file"))
      try link(folder.appendingPathComponent("broken"), to: "nowhere")
      let obstacle = String(path.prefix { $0 != "/" })
      let error = error { try FileInfo.createFolder(at: folder.appendingPathComponent(path)) }
      #expect(error?.code == StoreError.notAFolder)
      #expect(error?.file == folder.appendingPathComponent(obstacle).path)
      #expect(try FileInfo.readText(from: folder.appendingPathComponent("file")) == "kept")
      #expect(!exists(folder.appendingPathComponent("nowhere")))
    }
  }

  @Test func passesOnTheSystemsError() throws {
    try withFolder { folder in
      let name = folder.appendingPathComponent(String(repeating: "n", count: 300))
      for verb in [
        { _ = try FileInfo(at: name) }, { try FileInfo.createFolder(at: name) },
        { try FileInfo.deleteFile(at: name) },
      ] as [() throws -> Void] {
        let error = error(verb)
        #expect(error?.code == StoreError.inputOutput)
        #expect(error?.errno == ENAMETOOLONG)
      }
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may do everything"))
  func saysWhatIsForbidden() throws {
    try withFolder { folder in
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
        #expect(error(verb)?.code == StoreError.permissionDenied)
      }
    }
  }

  @Test func tellsFilesFromFolders() throws {
    try withFolder { folder in
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

  @Test func deletesFilesAndLinksAlone() throws {
    try withFolder { folder in
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
        let error = error { try FileInfo.deleteFile(at: folder.appendingPathComponent(name)) }
        #expect(error?.code == StoreError.notAFile)
        #expect(error?.file == folder.appendingPathComponent(name).path)
      }
      #expect(try FileInfo.contents(ofFolder: folder) == ["sub"])
      #expect(try FileInfo.contents(ofFolder: folder.appendingPathComponent("sub")) == ["below"])
    }
  }
}
