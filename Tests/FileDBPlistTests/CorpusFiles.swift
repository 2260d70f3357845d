import Foundation
import Testing

@testable import FileDBPlist

/// A file of a corpus, with what its manifest says about it.
struct CorpusFile {
  enum Expectation: Equatable { case accepted, refused, open }

  /// The folder in the corpus and the path in it.
  let name: String
  let place: URL
  let expectation: Expectation

  var bytes: [UInt8]? { FileManager.default.contents(atPath: place.path).map { [UInt8]($0) } }

  /// Everything the manifest of `folder` lists.
  static func listed(in folder: URL, source: String) throws -> [CorpusFile] {
    let manifest = try String(contentsOf: folder.appendingPathComponent("manifest.tsv"), encoding: .utf8)
    return manifest.split(separator: "\n").dropFirst().map { line in
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return CorpusFile(
        name: "\(source)/\(columns[0])", place: folder.appendingPathComponent(columns[0]),
        expectation: expectation(columns[2]))
    }
  }

  private static func expectation(_ word: String) -> Expectation {
    switch word {
    case "valid", "well-formed": .accepted
    case "invalid": .refused
    case "differs", "n/a": .open
    // The rest are the words of `corner`; a question mark there, or a second choice, leaves it open.
    case let word where word.contains("?") || word.contains(" or "): .open
    case let word where word.hasPrefix("accept"): .accepted
    case let word where word.hasPrefix("reject"): .refused
    default: .open
    }
  }

  /// What is due of us: the table of decisions comes before the manifest.
  var mustBeAccepted: Bool? {
    if let decision = corpusDecisions[name] { return decision.isAccepted }
    return switch expectation {
    case .accepted: true
    case .refused: false
    case .open: nil
    }
  }
}

/// The corpora of other projects, which are kept beside the repository.
enum SharedCorpus {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("../shared/corpus").standardizedFileURL

  static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

  static func folder(_ source: String) -> URL { folder.appendingPathComponent(source) }
}

/// The content of each file in a folder and those inside it, with its name.
func forEachFile(in folder: URL, _ body: (_ name: String, _ bytes: [UInt8]) throws -> Void) throws {
  let names = try #require(FileManager.default.enumerator(atPath: folder.path))
  for case let name as String in names {
    // None of a folder.
    guard let contents = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
    else { continue }
    try body(name, [UInt8](contents))
  }
}

/// Our own cases, one question a file; they belong to the tests.
func cornerFolder() throws -> URL {
  try #require(Bundle.module.url(forResource: "Corner", withExtension: nil))
}

/// Whether an error has no line because it is about the file as a whole.
func concernsWholeFile(_ reason: PlistError.Reason) -> Bool {
  switch reason {
  case .empty, .binaryPropertyList, .unknownBinaryPropertyList, .oldStylePropertyList, .json, .fileTooLarge:
    true
  default: false
  }
}

/// Checks that `file` is read or refused as its manifest or our own decision says.
func checkReading(of file: CorpusFile) {
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
