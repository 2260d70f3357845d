import Foundation
import Testing

@testable import FileDBPlist

@Suite struct CornerTests {
  /// Left out of the folder for their size, and made in `HostileTests` instead.
  private static let generated: Set<String> = [
    "corner/depth-array-100000.plist", "corner/size-string-11m.plist", "corner/size-attr-11m.plist",
    "corner/size-comment-12m.plist",
  ]

  @Test func eachFileIsReadOrRefusedAsDecided() throws {
    let files = try CorpusFile.listed(in: cornerFolder(), source: "corner")
    #expect(files.count == 217)
    for file in files where !Self.generated.contains(file.name) { checkReading(of: file) }
  }

  /// However a file is cut into pieces, it is read, or refused, alike.
  @Test(arguments: [1, 2, 3, 7]) func piecesMakeNoDifference(length: Int) throws {
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

  /// Apple's own files come back as the same bytes.
  @Test func filesOfApplesWritersAreWrittenUnchanged() throws {
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

  @Test(arguments: ["empty", "todo"]) func tablesOfTheOriginalClassAreRead(name: String) throws {
    let bytes = [UInt8](try Data(contentsOf: SharedCorpus.folder("wgfiledb/\(name)")))
    let root = try #require(try PlistParser.parse(bytes).dict)
    #expect(root.keys == ["autoincrement", "data", "index"])
    #expect(agrees(.dict(root), try foundationReading(bytes)))
  }

  /// None of the W3C's files is a property list, and half of them are not even XML.
  @Test func xmlThatIsNoPropertyListIsRefusedWithALine() throws {
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

  @Test func theTableOfDecisionsHoldsDifferencesOnly() throws {
    for source in Set(corpusDecisions.keys.compactMap { $0.split(separator: "/").first }) {
      for file in try CorpusFile.listed(in: SharedCorpus.folder(String(source)), source: String(source)) {
        guard let decision = corpusDecisions[file.name] else { continue }
        let said: CorpusFile.Expectation = decision.isAccepted ? .accepted : .refused
        #expect(file.expectation != said, "\(file.name): the manifest says so anyway")
      }
    }
  }

  @Test func theTableOfDecisionsNamesFilesThatExist() throws {
    for name in Set(corpusDecisions.keys).union(valuesFoundationMisses.keys) where !name.hasPrefix("corner/")
    {
      let place = SharedCorpus.folder.appendingPathComponent(name).path
      #expect(FileManager.default.fileExists(atPath: place), "\(name)")
    }
  }
}

/// Compares what we do with `file` with what is due.
private func checkReading(of file: CorpusFile) {
  guard let bytes = file.bytes else {
    Issue.record("\(file.name) is missing")
    return
  }
  guard let mustBeAccepted = file.mustBeAccepted else {
    Issue.record("\(file.name): neither the manifest nor the table of decisions says what is due")
    return
  }
  do throws(PlistError) {
    let value = try PlistParser.parse(bytes)
    #expect(mustBeAccepted, "\(file.name) was accepted")
    let again = try PlistParser.parse(try PlistWriter.document(value))
    #expect(again == value, "\(file.name) did not survive writing")
    checkValue(value, of: file, bytes)
  } catch {
    #expect(!mustBeAccepted, "\(file.name): \(error)")
    #expect(error.line != nil || concernsWholeFile(error.reason), "\(file.name): \(error) has no line")
  }
}

private func checkValue(_ value: PlistValue, of file: CorpusFile, _ bytes: [UInt8]) {
  if let right = valuesFoundationMisses[file.name] {
    #expect(value == right, "\(file.name)")
  } else if let theirs = try? foundationReading(bytes) {
    #expect(agrees(value, theirs), "\(file.name): \(value) or \(theirs)?")
  } else {
    Issue.record("\(file.name): Foundation does not read it, and no value is given")
  }
}

/// Pushes `bytes` through the parser piece by piece.
func parse(
  _ bytes: [UInt8], inPiecesOf length: Int, limits: PlistLimits = PlistLimits()
) throws(PlistError) -> PlistValue {
  var parser = PlistParser(limits: limits)
  for start in stride(from: 0, to: bytes.count, by: length) {
    let piece = Array(bytes[start..<min(start + length, bytes.count)])
    try piece.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
  }
  return try parser.finish()
}
