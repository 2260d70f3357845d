import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

/// The scanner passes what the writer writes and nothing else, and what it passes reads as libxml2 reads it: for random
/// values, and for what becomes of their bytes when they are changed in every way.
@Suite struct CanonicalRandomTests {
  /// Something of each kind, in as few bytes as possible.
  static var value: PlistValue {
    [
      "": [], "a": ["\r<\u{E9}\u{FFFD}\u{1F600}\n", "", .unsigned(.max), -7, 0], "a&": [true, false, [:]],
      "a\u{E9}": 1,
      "b": .date(Date(timeIntervalSince1970: 1_709_208_000)), "data": .data(Data(0..<100)),
      "real": [0.1, -0.0, 1e300, .real(1.0 / 3), .real(.nan), .real(-.infinity), .real(1200)],
      "zero": .data(Data()),
    ]
  }

  @Test func randomValuesSurviveWritingAndScanning() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    for round in 0..<3_000 {
      let indentation = Int.random(in: 0...11, using: &values.random)
      let value = try values.value().normalized(limits: PlistLimits())
      let body = try canonicalBody(value, indentation: indentation)
      let read = canonicalReading(body, indentation: indentation)
      try #require(read == value, "round \(round): \(String(decoding: body, as: UTF8.self))")
    }
  }

  @Test func scannerAppliesSameLimitsAsParser() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    for round in 0..<3_000 {
      let limits = PlistLimits(
        depth: .random(in: 0...6, using: &values.random),
        valueBytes: .random(in: 0...60, using: &values.random))
      let body = try canonicalBody(values.value())
      let (ours, theirs) = (canonicalReading(body, limits: limits), rewritableReading(body, limits: limits))
      try #require(ours == theirs, "round \(round), \(limits): \(String(decoding: body, as: UTF8.self))")
    }
  }

  @Test func valueCutOffAnywhereIsRefused() throws {
    let body = try canonicalBody(Self.value)
    #expect(canonicalReading(body) == Self.value)
    for count in body.indices { #expect(canonicalReading(Array(body[..<count])) == nil, "\(count) bytes") }
  }

  /// Every byte in turn becomes another one: each that is next to a limit of something, and some by chance.
  @Test func scannerAgreesWithParserOnChangedBytes() throws {
    var random = SeededRandom.fromEnvironment(#function)
    let interesting =
      Array("\0\u{8}\t\n\u{B}\r\u{1F} !#&+-./01289:;<=>?@ABZ[eEgglnz{\u{7F}".utf8)
      + [
        0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBD, 0xBE, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
        0xFF,
      ]
    let body = try canonicalBody(Self.value)
    for place in body.indices {
      for _ in 0..<10 {
        var changed = body
        changed[place] = interesting.randomElement(using: &random)!
        checkJudgement(of: changed)
        changed[place] = body[place] &+ [1, 0xFF, 2, 0xFE, 16, 0xF0].randomElement(using: &random)!
        checkJudgement(of: changed)
      }
    }
  }

  /// Bytes and pieces are removed, inserted or doubled; lines are exchanged.
  @Test func scannerAgreesWithParserOnDamagedDocuments() throws {
    var values = RandomValue(random: .fromEnvironment(#function))
    let fixed = try canonicalBody(Self.value)
    var accepted = 0
    for round in 0..<6_000 {
      var body = round % 2 == 0 ? fixed : try canonicalBody(values.value())
      for _ in 0..<Int.random(in: 1...2, using: &values.random) { damage(&body, &values.random) }
      if checkJudgement(of: body) { accepted += 1 }
    }
    // Were all of them refused, half of this test would be idle.
    #expect(accepted > 300)
  }

  @discardableResult
  private func checkJudgement(of body: [UInt8]) -> Bool {
    let (ours, theirs) = (canonicalReading(body), rewritableReading(body))
    #expect(ours == theirs, "\(String(decoding: body, as: UTF8.self))")
    return ours != nil
  }

  private func damage(_ body: inout [UInt8], _ random: inout SeededRandom) {
    guard let place = body.indices.randomElement(using: &random) else { return }
    let end = min(body.count, place + Int.random(in: 1...12, using: &random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: body.remove(at: place)
    case 2: body.insert(contentsOf: Self.tokens.randomElement(using: &random)!.utf8, at: place)
    case 3: body.removeSubrange(place..<end)
    case 4: body.insert(contentsOf: Array(body[place..<end]), at: place)
    default: changeLines(&body, &random)
    }
  }

  private static let tokens = [
    "&lt;", "&gt;", "&amp;", "&#13;", "&quot;", "&#xD;", "&#10;", "<![CDATA[a]]>", "<!-- -->", "\t", "\n",
    "\r\n", " ", "0",
    "1", ".", "-", "e", "\u{FFFE}", "\u{FFFF}", "\u{FEFF}", "a", "A", "=", "AAAA",
  ]

  /// Lines are exchanged, dropped or doubled: mostly entries that come together.
  private func changeLines(_ body: inout [UInt8], _ random: inout SeededRandom) {
    var lines = body.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
    let one = lines.indices.randomElement(using: &random)!
    let other = min(lines.count - 1, one + Int.random(in: 1...4, using: &random))
    switch Int.random(in: 0..<3, using: &random) {
    case 0: lines.swapAt(one, other)
    case 1: lines.removeSubrange(one..<other)
    default: lines.insert(contentsOf: lines[one..<other], at: other)
    }
    body = Array(lines.joined(separator: [0x0A]))
  }
}
