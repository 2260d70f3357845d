import Foundation
import Testing

@testable import FileDBPlist

/// Files of other writers: few are in canonical bytes, and those alone may be passed.
@Suite struct CanonicalCorpusTests {
  @Test func eachCornerIsJudgedAsByTheParser() throws { try checkFiles(in: cornerFolder(), atLeast: 200) }

  @Test(.enabled(if: SharedCorpus.isThere, "../shared/corpus is not beside this repository"))
  func eachFileOfOthersIsJudgedAsByTheParser() throws {
    try checkFiles(in: SharedCorpus.folder, atLeast: 3_000)
  }

  private func checkFiles(in folder: URL, atLeast expected: Int) throws {
    let names = try #require(FileManager.default.enumerator(atPath: folder.path))
    var count = 0
    for case let name as String in names {
      guard let contents = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
      else {
        continue  // A folder.
      }
      count += 1
      let bytes = [UInt8](contents)
      let theirs = try? PlistParser.parse(bytes)
      guard let theirs else {
        #expect(canonicalReading(document: bytes) == nil, "\(name)")
        continue
      }
      let written = try PlistWriter.document(theirs)
      #expect(canonicalReading(document: bytes) == (written == bytes ? theirs : nil), "\(name)")
      #expect(canonicalReading(document: written) == theirs, "\(name), written anew")
    }
    #expect(count >= expected)
  }
}
