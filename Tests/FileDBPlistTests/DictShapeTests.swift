import FileDBPlist
import Foundation
import TestSupport
import Testing

/// The scanner that expects dictionaries to be alike passes the same bytes as the one that expects nothing.
@Suite struct DictShapeTests {
  private static let indentation = 2
  /// With something of each kind, and keys of which one begins another.
  private static let keys = [
    "", "a", "a b", "a<", "ab", "amount", "due", "id", "idd", "isDone", "note", "price", "title", "\u{E9}",
    String(repeating: "k", count: 70), String(repeating: "k", count: 90),
  ]

  @Test func randomDictionariesAreScannedAsWithoutShape() throws {
    var values = RandomValue(random: .fromEnvironment(#function), deepest: 2)
    for _ in 0..<2_000 {
      let body = try body(of: dictionaries(&values))
      let passed = checkScanning(body)
      #expect(passed > 0)
    }
  }

  @Test func changedDictionariesAreScannedAsWithoutShape() throws {
    var values = RandomValue(random: .fromEnvironment(#function), deepest: 2)
    var passed = 0
    for round in 0..<8_000 {
      var body = try body(of: round % 2 == 0 ? alike(&values) : dictionaries(&values))
      for _ in 0..<Int.random(in: 1...2, using: &values.random) { damage(&body, &values.random) }
      passed += checkScanning(body)
    }
    // Were all of them refused at once, half of this test would be idle.
    #expect(passed > 8_000)
  }

  /// Each byte of the last of some like dictionaries becomes each that means something, and some next to it.
  @Test func everyChangedByteIsJudgedAsWithoutShape() throws {
    let dictionary: PlistValue = [
      "a": "b\n\u{E9}\u{FFFD}\u{1F600}&<>\r\t", "date": .date(Date(timeIntervalSince1970: 1_709_208_000)),
      "id": "120", "n": -120, "r": [1.5], "real": 0.25, "t": true, "u": false, "z": 0,
    ]
    let body = try body(of: [dictionary, dictionary])
    let end = body.count - Self.tail.count
    for place in (end / 2)..<end {
      let near = [1, 2, 0x10, 0x20, 0x80].flatMap { [body[place] &+ $0, body[place] &- $0] }
      for byte in Array("\0\t\n\r &-./09:;<=>AZaz\u{7F}".utf8) + [0x80, 0xBF, 0xEF, 0xF4] + near {
        var changed = body
        changed[place] = byte
        checkScanning(changed)
      }
    }
  }

  @Test(arguments: [0, 1, 2, 19, 20, 31, 32, 33, 60]) func limitsAreThoseWithoutShape(valueBytes: Int) throws
  {
    var values = RandomValue(random: .fromEnvironment("\(#function) \(valueBytes)"), deepest: 2)
    for _ in 0..<200 {
      let limits = PlistLimits(depth: .random(in: 0...5, using: &values.random), valueBytes: valueBytes)
      checkScanning(try body(of: alike(&values)), limits)
      checkScanning(try body(of: dictionaries(&values)), limits)
    }
  }

  @Test func moreKeysThanAShapeRemembersAreScanned() throws {
    let all = (0..<200).map { PlistDictionary.Entry(key: "k\($0)", value: .integer(Int64($0))) }
    let dictionaries = (0..<20).map { number in
      var dictionary = PlistDictionary(lastOf: all.filter { $0.value.integer ?? 0 < number * 10 })
      dictionary["id"] = .string("\(number)")
      return PlistValue.dict(dictionary)
    }
    let passed = checkScanning(try body(of: dictionaries))
    #expect(passed == 20)
  }

  // MARK: - What is scanned

  /// Enough bytes behind the last dictionary for it to be scanned like the others.
  private static let tail = Array("\t</array>\n".utf8) + [UInt8](repeating: 0x20, count: 400)

  private func body(of dictionaries: [PlistValue]) throws -> [UInt8] {
    var writer = PlistWriter()
    for dictionary in dictionaries {
      writer.append(try dictionary.normalized(limits: PlistLimits()), indentation: Self.indentation)
    }
    return writer.bytes + Self.tail
  }

  private func dictionaries(_ values: inout RandomValue) -> [PlistValue] {
    (0..<Int.random(in: 1...6, using: &values.random)).map { number in
      dictionary(with: Self.keys.filter { _ in Bool.random(using: &values.random) }, number, &values)
    }
  }

  private func alike(_ values: inout RandomValue) -> [PlistValue] {
    let keys = Self.keys.filter { _ in Bool.random(using: &values.random) }
    return (0..<Int.random(in: 2...4, using: &values.random)).map { dictionary(with: keys, $0, &values) }
  }

  private func dictionary(with keys: [String], _ number: Int, _ values: inout RandomValue) -> PlistValue {
    var dictionary = PlistDictionary()
    for key in keys { dictionary[key] = values.value(depth: 1) }
    dictionary["id"] = .string("\(number * 1_000)")
    return .dict(dictionary)
  }

  private func damage(_ body: inout [UInt8], _ random: inout SeededRandom) {
    let place = Int.random(in: 0..<body.count - Self.tail.count, using: &random)
    let end = min(body.count, place + Int.random(in: 1...12, using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: body.remove(at: place)
    case 2: body[place] = "\0\t\n<>&-.0129T:Z\u{7F}".utf8.randomElement(using: &random)!
    case 3: body.removeSubrange(place..<end)
    default: body.insert(contentsOf: Array(body[place..<end]), at: place)
    }
  }

  // MARK: - Both ways

  private struct Scanned: Equatable {
    var ranges: [Range<Int>] = []
    var numbers: [Int64] = []
    var end = 0
  }

  /// - Returns: how many dictionaries pass.
  @discardableResult
  private func checkScanning(_ body: [UInt8], _ limits: PlistLimits = PlistLimits()) -> Int {
    // Of exactly the size, so that a sanitizer notices a byte beyond.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: body)
    let bytes = UnsafeRawBufferPointer(memory)
    let plain = scan(bytes, limits) { $0.scanDict(indentation: Self.indentation, numberKey: "id") }
    let shape = DictShape(indentation: Self.indentation, numberKey: "id", limits: limits)
    // The second time it knows all keys from the beginning.
    for time in 1...2 {
      let shaped = scan(bytes, limits) { $0.scanDict(alike: shape) }
      #expect(shaped == plain, "time \(time): \(String(decoding: body.dropLast(400), as: UTF8.self))")
    }
    return plain.ranges.count
  }

  private func scan(
    _ bytes: UnsafeRawBufferPointer, _ limits: PlistLimits,
    _ next: (inout CanonicalScanner) -> (range: Range<Int>, number: Int64)?
  ) -> Scanned {
    var scanner = CanonicalScanner(bytes, limits: limits)
    var scanned = Scanned()
    while let (range, number) = next(&scanner) {
      scanned.ranges.append(range)
      scanned.numbers.append(number)
    }
    scanned.end = scanner.position
    return scanned
  }
}
