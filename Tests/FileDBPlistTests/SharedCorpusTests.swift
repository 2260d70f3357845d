import Foundation
import Testing

@testable import FileDBPlist

@Suite(.enabled(if: SharedCorpus.isThere, "../shared/corpus is not beside this repository"))
struct SharedCorpusTests {
  @Test(arguments: [
    "corner", "cpython", "gnustep", "plist.js", "rust-plist", "swift-corelibs-foundation", "swift-foundation",
  ])
  func eachFileIsReadOrRefusedAsItsManifestSays(source: String) throws {
    let files = try CorpusFile.listed(in: SharedCorpus.folder(source), source: source)
    #expect(!files.isEmpty)
    for file in files where file.bytes != nil { checkReading(of: file) }
  }

  @Test func filesWrittenByAppleAreRewrittenUnchanged() throws {
    var places = ["cpython/apple-testdata.plist", "swift-foundation/Generic_XML_Properties.plist"]
    for name in [
      "Array", "ConcreteValue", "EdgeInsets", "Notification", "OrderedSet", "Range", "Rect", "UUID",
    ] {
      places.append("swift-corelibs-foundation/NSKeyedUnarchiver-\(name)Test.plist")
    }
    for place in places {
      let bytes = [UInt8](try Data(contentsOf: SharedCorpus.folder(place)))
      let again = try PlistWriter.document(try PlistParser.parse(bytes))
      #expect(again == bytes, "\(place)")
    }
  }

  @Test(arguments: ["empty", "todo"]) func tablesOfOriginalClassAreRead(name: String) throws {
    let bytes = [UInt8](try Data(contentsOf: SharedCorpus.folder("wgfiledb/\(name)")))
    let root = try #require(try PlistParser.parse(bytes).dict)
    #expect(root.keys == ["autoincrement", "data", "index"])
    #expect(agrees(.dict(root), try foundationReading(bytes)))
  }

  /// None of the W3C's files is a property list, and half of them are not even XML.
  @Test func xmlOtherThanPropertyListsIsRefusedWithLine() throws {
    let folder = SharedCorpus.folder("xmlconf")
    var count = 0
    try forEachFile(in: folder) { name, bytes in
      count += 1
      do throws(PlistError) {
        _ = try PlistParser.parse(bytes)
        Issue.record("\(name) was accepted")
      } catch {
        #expect(error.line != nil || concernsWholeFile(error.reason), "\(name): \(error)")
      }
    }
    #expect(count > 3_000)
  }

  @Test func corpusDecisionsDifferFromManifests() throws {
    for source in Set(corpusDecisions.keys.compactMap { $0.split(separator: "/").first }) {
      for file in try CorpusFile.listed(in: SharedCorpus.folder(String(source)), source: String(source)) {
        guard let decision = corpusDecisions[file.name] else { continue }
        let said: CorpusFile.Expectation = decision.isAccepted ? .accepted : .refused
        #expect(file.expectation != said, "\(file.name): the manifest says so anyway")
      }
    }
  }

  @Test func corpusDecisionsNameExistingFiles() throws {
    for name in Set(corpusDecisions.keys).union(valuesFoundationMisses.keys) where !name.hasPrefix("corner/")
    {
      let place = SharedCorpus.folder.appendingPathComponent(name).path
      #expect(FileManager.default.fileExists(atPath: place), "\(name)")
    }
  }
}
