import Foundation
import Testing

@testable import FileDBPlist

@Suite struct CornerTests {
  /// Left out of the folder for their size, and made in `HostileTests` instead.
  private static let generated: Set<String> = [
    "corner/depth-array-100000.plist", "corner/size-string-11m.plist", "corner/size-attr-11m.plist",
    "corner/size-comment-12m.plist",
  ]

  @Test func eachCornerCaseIsReadOrRefusedAsDecided() throws {
    let files = try CorpusFile.listed(in: cornerFolder(), source: "corner")
    #expect(files.count == 217)
    for file in files where !Self.generated.contains(file.name) { checkReading(of: file) }
  }

  @Test(arguments: [1, 2, 3, 7]) func eachCornerCaseParsesTheSameInPieces(length: Int) throws {
    for file in try CorpusFile.listed(in: cornerFolder(), source: "corner") {
      guard let bytes = file.bytes, bytes.count < 20_000 else { continue }
      let whole = Result { () throws(PlistError) in try PlistParser.parse(bytes) }
      let cut = Result { () throws(PlistError) in try parse(bytes, inPiecesOf: length) }
      switch (whole, cut) {
      case (.success(let one), .success(let other)): #expect(one == other, "\(file.name)")
      case (.failure(let one), .failure(let other)): #expect(one.line == other.line, "\(file.name)")
      default: Issue.record("\(file.name): \(whole) as one piece, \(cut) in pieces of \(length)")
      }
    }
  }
}
