import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct OpenFilesTests {
  private static let descriptors = "/proc/self/fd"

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: descriptors), "the system does not list open files"))
  func aReleasedStoreLeavesNoFileOpen() throws {
    try withTemporaryFolder { folder in
      func openFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Self.descriptors)
          .compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(Self.descriptors)/\($0)")
          }
          .filter { $0.hasPrefix(folder.resolvingSymlinksInPath().path) }
      }
      do {
        let store = try RecordStore(at: folder)
        try store.table("t").add(["n": 1])
        try store.checkpoint()
        #expect(try !openFiles().isEmpty)
        try store.checkInvariants()
      }
      #expect(try openFiles().isEmpty)
    }
  }
}
