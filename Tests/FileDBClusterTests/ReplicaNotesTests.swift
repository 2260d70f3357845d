import FileDB
import FileDBEssentials
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// The small files of a folder that follows a shared log.
@Suite struct ReplicaNotesTests {
  /// Two processes on one machine: one notes what it sends, and the other looks without the folder's lock.
  @Test func noteThatIsRemovedMeanwhileIsNoError() throws {
    try withTemporaryFolder { url in
      let folder = StoreFolder(path: url.path, disk: .system)
      try folder.disk.createFolder(folder.ownFolder)
      let notes = ReplicaNotes(folder: folder)
      let words = "\(CommitToken.random().text) 1 1000000000 \(UndoEffect.none.rawValue)".split(
        separator: " ")
      let sent = try #require(SentCommit(words))
      let failures = Failures()
      let writer = startThread("the writer") {
        for _ in 0..<2_000 {
          failures.note {
            try notes.write(sent)
            try notes.removeSentCommit()
          }
        }
      }
      for _ in 0..<5_000 { failures.note { _ = try notes.sentCommit() } }
      try writer.wait()
      #expect(failures.all.isEmpty)
    }
  }
}
