import Foundation
import Testing

@testable import FileDBPlist

/// Files of other writers: few are in canonical bytes, and those alone may be passed.
@Suite struct CanonicalCorpusTests {
  @Test func scannerAgreesWithParserOnCornerCases() throws {
    try checkFiles(in: cornerFolder(), atLeast: 200)
  }

  @Test(.enabled(if: SharedCorpus.isThere, "../shared/corpus is not beside this repository"))
  func scannerAgreesWithParserOnSharedCorpus() throws {
    try checkFiles(in: SharedCorpus.folder, atLeast: 3_000)
  }

  private func checkFiles(in folder: URL, atLeast expected: Int) throws {
    var count = 0
    try forEachFile(in: folder) { name, bytes in
      count += 1
      let theirs = try? PlistParser.parse(bytes)
      guard let theirs else {
        #expect(canonicalReading(document: bytes) == nil, "\(name)")
        return
      }
      let written = try PlistWriter.document(theirs)
      #expect(canonicalReading(document: bytes) == (written == bytes ? theirs : nil), "\(name)")
      #expect(canonicalReading(document: written) == theirs, "\(name), written anew")
    }
    #expect(count >= expected)
  }
}
