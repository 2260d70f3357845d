import Testing

@testable import FileDBPlist

@Suite struct PlistDictionaryTests {
  /// Canonically equivalent in two pairs, and not in the order of their scalars' first bytes.
  private static let keys = ["", "a", "A", "e\u{301}", "\u{E9}", "\u{FB03}", "\u{1F600}", "\u{FFFD}"]

  /// Every sequence of four changes with three keys, against an array that is searched.
  @Test func smallDictionariesAgreeWithPlainModel() {
    let values: [PlistValue?] = [1, 2, nil]
    let changes = Self.keys[2...4].flatMap { key in values.map { (key: key, value: $0) } }
    for first in changes {
      for second in changes {
        for third in changes {
          for fourth in changes {
            var dictionary = PlistDictionary()
            var model = Model()
            for (key, value) in [first, second, third, fourth] {
              dictionary[key] = value
              model.set(key, value)
            }
            model.check(dictionary)
          }
        }
      }
    }
  }

  /// The dictionary that a parser builds is the one that an assignment of each key builds.
  @Test func everyOrderOfKeysBuildsTheSameDictionary() {
    var expected = PlistDictionary()
    for (number, key) in Self.keys.enumerated() { expected[key] = PlistValue(UInt64(number)) }
    #expect(
      expected.keys.map { Array($0.utf8) }
        == Self.keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    for count in 0...5 {
      permutations(Array(0..<count)) { order in
        let entries = order.map { PlistDictionary.Entry(key: Self.keys[$0], value: PlistValue(UInt64($0))) }
        let built = PlistDictionary(unsorted: entries) { _ in Issue.record("no key is there twice") }
        var expected = PlistDictionary()
        for number in 0..<count { expected[Self.keys[number]] = PlistValue(UInt64(number)) }
        #expect(built == expected, "\(order)")
      }
    }
  }

  @Test func secondOfTwoEqualKeysIsReported() {
    for count in 2...6 {
      for first in 0..<count {
        for second in (first + 1)..<count {
          var keys = (0..<count).map { "key\(count - $0)" }
          keys[second] = keys[first]
          var named: Int?
          let entries = keys.map { PlistDictionary.Entry(key: $0, value: true) }
          #expect(PlistDictionary(unsorted: entries) { named = $0 } == nil)
          #expect(named == second, "\(keys)")
        }
      }
    }
  }

  @Test func canonicallyEquivalentKeysStayDistinct() {
    var dictionary: PlistDictionary = ["\u{E9}": 1, "e\u{301}": 2]
    #expect(dictionary.count == 2)
    #expect(dictionary["\u{E9}"] == 1)
    #expect(dictionary["e\u{301}"] == 2)
    dictionary["\u{E9}"] = nil
    #expect(dictionary.keys.map { $0.unicodeScalars.count } == [2])
    #expect(dictionary != ["\u{E9}": 2])
  }

  @Test func literalKeepsLastValueOfRepeatedKey() {
    #expect(["a": 1, "a": 2] as PlistDictionary == ["a": 2])
    #expect(PlistValue.dict(["a": 2]) == ["a": 1, "a": 2])
  }

  @Test func mapValuesKeepsKeys() {
    let dictionary: PlistDictionary = ["b": 1, "a": 2]
    let mapped = dictionary.mapValues { (key: String, value: PlistValue) in .array([.string(key), value]) }
    #expect(mapped == ["a": ["a", 2], "b": ["b", 1]])
  }

  @Test func stringsAreComparedByUTF8Bytes() {
    for left in Self.keys {
      for right in Self.keys {
        let (a, b) = (Array(left.utf8), Array(right.utf8))
        let expected = a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        #expect(compareUTF8(left, right).signum() == expected, "\(left) and \(right)")
      }
    }
  }
}

/// Entries in no order, found by comparing the bytes of every key.
private struct Model {
  private var entries: [(key: [UInt8], value: PlistValue)] = []

  mutating func set(_ key: String, _ value: PlistValue?) {
    entries.removeAll { $0.key == Array(key.utf8) }
    if let value { entries.append((Array(key.utf8), value)) }
  }

  func check(_ dictionary: PlistDictionary) {
    let sorted = entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    #expect(dictionary.count == sorted.count)
    for (mine, theirs) in zip(dictionary, sorted) {
      #expect(Array(mine.key.utf8) == theirs.key)
      #expect(mine.value == theirs.value)
      #expect(dictionary[mine.key] == theirs.value)
    }
  }
}

private func permutations(_ items: [Int], _ chosen: [Int] = [], _ body: ([Int]) -> Void) {
  if items.isEmpty { body(chosen) }
  for (position, item) in items.enumerated() {
    var rest = items
    rest.remove(at: position)
    permutations(rest, chosen + [item], body)
  }
}
