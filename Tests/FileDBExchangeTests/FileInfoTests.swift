import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

private func link(_ url: URL, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
}

private let badURLs = ["https://example.org/a", "file:///tmp/a%00b"].compactMap { URL(string: $0) }

@Suite struct FileInfoTests {
  @Test func infoDescribesEachKindOfFile() throws {
    try withTemporaryFolder { folder in
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
      #expect(try FileInfo(at: file).url == file)
      #expect(try FileInfo(at: file).formattedSize == "5 bytes")
    }
  }

  @Test func infoHasTimesAndPermissions() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("a")
      try Data().write(to: file)
      #expect(chmod(file.path, 0o4641) == 0)
      var times = [
        timeval(tv_sec: 1_266_939_261, tv_usec: 0), timeval(tv_sec: 1_266_939_262, tv_usec: 500_000),
      ]
      #expect(utimes(file.path, &times) == 0)

      let info = try FileInfo(at: file)
      #expect(info.permissions == 0o4641)
      #expect(info.modified == Date(timeIntervalSince1970: 1_266_939_262.5))
      #if canImport(Darwin)
        #expect(info.created.map { $0 <= Date() } == true)
      #else
        #expect(info.created == nil)
      #endif
    }
  }

  @Test func errorNamesMissingFile() throws {
    try withTemporaryFolder { folder in
      let missing = folder.appendingPathComponent("missing")
      let error = storeError { _ = try FileInfo(at: missing) }
      #expect(error?.code == .fileNotFound)
      #expect(error?.file == missing.path)
      #expect(error?.errno == ENOENT)
    }
  }

  @Test(arguments: badURLs) func urlsThatAreNoPathsAreRefused(url: URL) {
    #expect(badURLs.count == 2)
    #expect(storeError { _ = try FileInfo(at: url) }?.code == .invalidPath)
    #expect(!FileInfo.isFolder(url))
  }

  @Test func percentSignInPathIsLiteral() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("a%00b")
      try Data("x".utf8).write(to: file)
      #expect(try FileInfo(at: file).size == 1)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a%00b"])
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
  func sizesAreFormattedForReading(size: Int64, text: String) {
    #expect(FileInfo.formatted(size: size) == text)
  }
}
