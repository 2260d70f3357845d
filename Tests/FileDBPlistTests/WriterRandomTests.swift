import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

/// The writer's bytes are compared with Foundation's own for thousands of random values.
@Suite struct WriterRandomTests {
  @Test func randomValuesAreWrittenAsFoundationWritesThem() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    values.datesFromYearOne = false
    for round in 0..<2_000 {
      // Foundation's encoder takes no scalar for a root.
      let value = PlistValue.array([values.value(depth: 1), values.value(depth: 1)])
      let ours = String(decoding: try PlistWriter.document(value), as: UTF8.self)
      let theirs = try foundationText(value)
      let difference = firstDifference(ours, theirs)
      try #require(difference == nil, "round \(round)")
    }
  }

  /// The deeper, the fewer columns are left for base64, down to twelve.
  @Test func dataAtEveryIndentationIsWrittenAsFoundationWritesIt() throws {
    for indentation in 1...14 {
      for count in 0...120 {
        var value = PlistValue.data(Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151) }))
        for level in 0..<indentation { value = level % 2 == 0 ? .array([value]) : ["key": value] }
        let ours = String(decoding: try PlistWriter.document(value), as: UTF8.self)
        #expect(try ours == foundationText(value), "\(count) bytes at \(indentation)")
      }
    }
  }

  @Test func randomValuesAreReadBackNormalized() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    for round in 0..<2_000 {
      let value = values.value()
      let bytes = try PlistWriter.document(value)
      let normalized = try value.normalized(limits: PlistLimits())
      let read = try PlistParser.parse(bytes)
      try #require(read == normalized, "round \(round): \(String(decoding: bytes, as: UTF8.self))")
      let again = try PlistWriter.document(read)
      try #require(again == bytes, "round \(round): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func foundationReadsWrittenDocuments() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    values.textFromByteOrderMark = false
    for round in 0..<1_000 {
      let value = try values.value().normalized(limits: PlistLimits())
      let bytes = try PlistWriter.document(value)
      let agreed = agrees(value, try foundationReading(bytes))
      try #require(agreed, "round \(round): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  /// Foundation's encoder turns to the Julian calendar here; its reader does not.
  @Test func foundationReadsDatesBeforeGregorianCalendar() throws {
    var random = SeededRandom.fromEnvironment(#function)
    for _ in 0..<1_000 {
      let second = Int.random(in: PlistDate.secondsRange.lowerBound..<firstGregorianSecond, using: &random)
      let date = Date(timeIntervalSince1970: Double(second))
      let read = try foundationReading(try PlistWriter.document(.date(date)))
      #expect(read as? Date == date, "second \(second)")
    }
  }

  @Test func canonicallyEquivalentKeysStayDistinct() throws {
    let value: PlistValue = ["\u{E9}": 1, "e\u{301}": 2]
    let text = String(decoding: try PlistWriter.document(value), as: UTF8.self)
    #expect(text.utf8.count(where: { $0 == UInt8(ascii: "k") }) >= 4)
    #expect(try PlistParser.parse(Array(text.utf8)) == value)
  }

  /// Foundation writes them unescaped, and readers turn those into line feeds.
  @Test func carriageReturnsSurviveWriting() throws {
    let value: PlistValue = ["a\rb": .string("1\r\n2\r")]
    let bytes = try PlistWriter.document(value)
    #expect(!bytes.contains(0x0D))
    #expect(try PlistParser.parse(bytes) == value)
  }
}

/// The first line in which two documents differ, as both have it.
private func firstDifference(_ ours: String, _ theirs: String) -> String? {
  if ours.utf8.elementsEqual(theirs.utf8) { return nil }
  let lines = [ours, theirs].map { $0.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) }
  let number = zip(lines[0], lines[1]).prefix { $0.elementsEqual($1) }.count
  return "line \(number + 1): \(lines.map { number < $0.count ? String($0[number]) ?? "" : "no line" })"
}

/// What Foundation's encoder writes, with the one difference that is on purpose and not a matter of order.
func foundationText(_ value: PlistValue) throws -> String {
  let encoder = PropertyListEncoder()
  encoder.outputFormat = .xml
  let text = String(decoding: try encoder.encode(value), as: UTF8.self)
  return String(decoding: text.utf8.flatMap { $0 == 0x0D ? Array("&#13;".utf8) : [$0] }, as: UTF8.self)
}

func foundationReading(_ bytes: [UInt8]) throws -> Any {
  try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
}

/// Whether `theirs`, as PropertyListSerialization reads it, is our `value`.
///
/// Foundation folds canonically equivalent keys, so a dictionary that has such keys is not looked into.
func agrees(_ value: PlistValue, _ theirs: Any) -> Bool {
  switch value {
  case .string(let text): return (theirs as? String).map { $0.utf8.elementsEqual(text.utf8) } ?? false
  case .integer(let number): return isNumber(theirs) && theirs as? Int64 == number
  case .unsigned(let number): return isNumber(theirs) && theirs as? UInt64 == number
  case .real(let number):
    guard isNumber(theirs), let read = theirs as? Double else { return false }
    // CoreFoundation keeps a real that is a whole number as an integer, where zero has no sign.
    return read == number || (read.isNaN && number.isNaN)
  case .bool(let flag): return theirs as? Bool == flag
  case .date(let date): return theirs as? Date == date
  case .data(let data): return theirs as? Data == data
  case .array(let elements):
    guard let list = theirs as? [Any], list.count == elements.count else { return false }
    return zip(elements, list).allSatisfy(agrees)
  case .dict(let entries):
    // CoreFoundation reads such a dictionary as a reference of its archiver.
    if entries.keys == ["CF$UID"] { return String(describing: type(of: theirs)) == "_NSKeyedArchiverUID" }
    guard let dictionary = theirs as? [String: Any] else { return false }
    guard Set(entries.keys).count == entries.count else { return true }
    return dictionary.count == entries.count
      && entries.allSatisfy { entry in dictionary[entry.key].map { agrees(entry.value, $0) } ?? false }
  }
}

/// Foundation's numbers pass for any Swift number, and a flag for a number.
private func isNumber(_ value: Any) -> Bool { !(value is Date) && !(value is String) && !(value is Data) }
