import FileDB
import Foundation
import TestSupport
import Testing

private enum Mood: String, Codable, Sendable, CaseIterable { case good, bad }
private enum Level: Int, Codable, Sendable, CaseIterable {
  case low = -1
  case high = 7
}
private enum Day: String, Codable, Sendable, CaseIterable, CodingKeyRepresentable { case monday, sunday }
private struct Point: Codable, Sendable, Hashable { var x: Int8, y: UInt16 }

private indirect enum Shape: Codable, Sendable, Equatable {
  case none
  case circle(radius: Double, label: String?)
  case pair(Shape, Shape)
}

/// An optional that the compiler does not see as one.
@propertyWrapper
private struct Kept<Value: Codable & Equatable & Sendable>:
  Codable, Equatable, Sendable
{
  var wrappedValue: Value

  init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  init(from decoder: any Decoder) throws {
    wrappedValue = try decoder.singleValueContainer().decode(Value.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

private struct Scalars: Codable, Sendable, Equatable {
  var text: String
  var bool: Bool
  var integers: [Int]
  var unsigned: UInt64
  var wide: Int128
  var widest: [UInt128]
  var wideOrNot: Int128?
  var bytes: [UInt8]
  var real: Double
  var float: Float
  var date: Date
  var data: Data
  var url: URL
  var uuid: UUID
  var decimal: Decimal
  var mood: Mood
  var level: Level
}

private final class Tree: Codable, Sendable, Equatable {
  let name: String
  let children: [Tree]

  init(name: String, children: [Tree]) { (self.name, self.children) = (name, children) }
  static func == (left: Tree, right: Tree) -> Bool {
    left.name == right.name && left.children == right.children
  }
}

private struct Sample: Codable, Equatable, Sendable {
  var scalars: Scalars?
  var many: [Scalars]
  var byName: [String: Int]
  var byNumber: [Int: [String: Bool]]
  var byDay: [Day: Decimal]
  var byPoint: [Point: Date]
  var numbers: Set<UInt64>
  var shape: Shape
  var tree: Tree
  var perhaps: String?
  @Kept var kept: Int?
  @Kept var dates: [Date]
}

extension SeededRandom {
  fileprivate mutating func optional<Value>(_ value: (inout SeededRandom) -> Value) -> Value? {
    Bool.random(using: &self) ? value(&self) : nil
  }

  fileprivate mutating func array<Value>(_ value: (inout SeededRandom) -> Value) -> [Value] {
    (0..<Int.random(in: 0...3, using: &self)).map { _ in value(&self) }
  }

  fileprivate mutating func text() -> String {
    let characters = ["a", "é", "e\u{301}", "&", "<", "]]>", "\"", "\r\n", "\t", " ", "😀", "\u{85}"]
    return array { characters.randomElement(using: &$0)! }.joined()
  }

  /// Small, large, and at the ends.
  fileprivate mutating func integer<Number: FixedWidthInteger>() -> Number {
    let ends: [Number] = [.min, .max, 0, 1, .max - 1]
    return Bool.random(using: &self)
      ? ends.randomElement(using: &self)! : Number.random(in: .min ... .max, using: &self)
  }

  fileprivate mutating func real() -> Double {
    let number = Double(bitPattern: next())
    return number.isNaN ? 0.1 : number
  }

  fileprivate mutating func date() -> Date {
    Date(timeIntervalSince1970: Double(Int.random(in: -62_135_596_800...253_402_300_799, using: &self)))
  }

  fileprivate mutating func decimal() -> Decimal {
    var decimal = Decimal(integer() as Int64)
    if Bool.random(using: &self) {
      decimal *= Decimal(sign: .plus, exponent: Int.random(in: -30...30, using: &self), significand: 1)
    }
    return decimal
  }

  fileprivate mutating func scalars() -> Scalars {
    Scalars(
      text: text(), bool: .random(using: &self), integers: array { $0.integer() }, unsigned: integer(),
      wide: integer(),
      widest: array { $0.integer() }, wideOrNot: optional { $0.integer() },
      bytes: array { $0.integer() }, real: real(),
      float: Float(Int16.random(in: .min ... .max, using: &self)) / 7,
      date: date(), data: Data(array { $0.integer() }),
      url: URL(string: "https://example.org/\(integer() as UInt8)?q=%20#f")!,
      uuid: UUID(
        uuidString: "00000000-0000-4000-8000-\(String(integer() as UInt32, radix: 16).leftPadded(to: 12))")!,
      decimal: decimal(), mood: Mood.allCases.randomElement(using: &self)!,
      level: Level.allCases.randomElement(using: &self)!)
  }

  fileprivate mutating func shape(depth: Int = 0) -> Shape {
    switch Int.random(in: depth > 3 ? 0...1 : 0...2, using: &self) {
    case 0: .none
    case 1: .circle(radius: real(), label: optional { $0.text() })
    default: .pair(shape(depth: depth + 1), shape(depth: depth + 1))
    }
  }

  fileprivate mutating func tree(depth: Int = 0) -> Tree {
    Tree(name: text(), children: depth > 2 ? [] : array { $0.tree(depth: depth + 1) })
  }

  fileprivate mutating func dictionary<Key: Hashable, Value>(
    _ key: (inout SeededRandom) -> Key, _ value: (inout SeededRandom) -> Value
  ) -> [Key: Value] {
    Dictionary(array { (key(&$0), value(&$0)) }) { $1 }
  }

  fileprivate mutating func sample() -> Sample {
    Sample(
      scalars: optional { $0.scalars() }, many: array { $0.scalars() },
      byName: dictionary({ $0.text() }, { $0.integer() }),
      byNumber: dictionary({ $0.integer() }, { $0.dictionary({ $0.text() }, { Bool.random(using: &$0) }) }),
      byDay: dictionary({ Day.allCases.randomElement(using: &$0)! }, { $0.decimal() }),
      byPoint: dictionary({ Point(x: $0.integer(), y: $0.integer()) }, { $0.date() }),
      numbers: Set(array { $0.integer() }), shape: shape(), tree: tree(), perhaps: optional { $0.text() },
      kept: optional { $0.integer() }, dates: array { $0.date() })
  }
}

extension String {
  fileprivate func leftPadded(to length: Int) -> String {
    String(repeating: "0", count: max(0, length - count)) + self
  }
}

/// Records with every kind of value, written and read again.
@Suite struct ValueRoundTripTests {
  @Test(arguments: StorePlace.allCases) func randomValuesRoundTrip(place: StorePlace) throws {
    var random = SeededRandom.fromEnvironment("ValueRoundTripTests")
    try withStore(place) { store in
      let table = try store.table(TableName<Sample>("samples"))
      let samples = random.samples(60)
      let ids = try table.add(contentsOf: samples)
      try expectSame(table.lastSnapshot.values().get(), samples)
      for (id, sample) in zip(ids, samples) { try expectSame([table.value(of: id)], [sample]) }
      try store.checkpoint()
      guard place == .disk else { return }
      let fresh = try RecordStore(at: store.url)
      try expectSame(fresh.table(TableName<Sample>("samples")).lastSnapshot.values().get(), samples)
    }
  }

  @Test func updateStoresNewValueAndKeepsUnknownFields() throws {
    var random = SeededRandom.fromEnvironment("ValueRoundTripTests.update")
    try withStore { store in
      let table = try store.table(TableName<Sample>("samples"))
      let raw = try store.table("samples")
      let id = try table.add(random.sample())
      try raw.set(["mine": "stays"], of: RecordID(id))
      for _ in 0..<60 {
        let next = random.sample()
        try table.update(id, to: next)
        try expectSame([table.value(of: id)], [next])
        #expect(try raw.value(of: RecordID(id))["mine"] == "stays")
      }
    }
  }

  /// Processes differ in the order of a set's elements and a dictionary's pairs.
  @Test func updateHandlesSetsAndDictionariesInAnyOrder() throws {
    struct Bag: Codable, Sendable, Equatable {
      var letters: Set<String>
      var points: [Point: Int]
    }
    let (a, b) = (Point(x: 1, y: 1), Point(x: 2, y: 2))
    try withStore { store in
      let table = try store.table(TableName<Bag>("t"))
      let points: [PlistValue] = [["x": 1, "y": 1], 1, ["x": 2, "y": 2], 2]
      for isReversed in [false, true] {
        let pairs = isReversed ? points[2...] + points[..<2] : points[...]
        let id = try store.table("t").add([
          "letters": isReversed ? ["b", "a"] : ["a", "b"], "points": .array(Array(pairs)),
        ])
        try table.update(RecordID(id)) { bag in
          bag.letters = ["b", "c"]
          bag.points[b] = 3
        }
        #expect(try table.value(of: RecordID(id)) == Bag(letters: ["b", "c"], points: [a: 1, b: 3]))
      }
    }
  }

  @Test func nilsAreNotStored() throws {
    try withStore(.disk) { store in
      struct Sparse: Codable, Sendable {
        var a: Int?
        @Kept var b: Int?
        var shape = Shape.circle(radius: 1, label: nil)
        var twice: Int??
      }
      let table = try store.table(TableName<Sparse>("t"))
      let id = try table.add(Sparse(twice: .some(.none)))
      #expect(try store.table("t").value(of: RecordID(id)) == ["shape": ["circle": ["radius": 1.0]]])
      let sample = try table.value(of: id)
      #expect(sample.a == nil && sample.b == nil && sample.twice == nil)
    }
  }

  @Test func decimalMustSpanWholeText() throws {
    struct Price: Codable, Sendable, Equatable { var amount: Decimal }
    try withStore { store in
      let table = try store.table(TableName<Price>("t"))
      let id = try table.add(Price(amount: .nan))
      #expect(try table.value(of: id).amount.isNaN)
      let raw = try store.table("t")
      for text in ["12 apples", "", "0x10", "1-2", "inf"] {
        try raw.set(["amount": .string(text)], of: RecordID(id))
        #expect(storeError { _ = try table.value(of: id) }?.field == "amount", "\(text)")
      }
      let amounts: [(PlistValue, String)] = [
        ("-1.50", "-1.5"), ("1e3", "1000"), (.unsigned(.max), "18446744073709551615"), (.real(0.1), "0.1"),
      ]
      for (value, text) in amounts {
        try raw.set(["amount": value], of: RecordID(id))
        #expect(try table.value(of: id) == Price(amount: Decimal(string: text)!))
      }
    }
  }

  @Test func nilInDictionaryIsRefused() throws {
    struct Scores: Codable, Sendable { var scores: [String: Int?] }
    try withStore { store in
      let table = try store.table(TableName<Scores>("t"))
      let error = try #require(storeError { try table.add(Scores(scores: ["anna": nil])) })
      #expect(error.code == .invalidValue && error.field == "scores.anna")
      let id = try table.add(Scores(scores: ["anna": 1]))
      let update = try #require(storeError { try table.update(id) { $0.scores["anna"] = .some(nil) } })
      #expect(
        update.code == .invalidValue && update.field == "scores.anna" && update.record == AnyRecordID(id))
    }
  }

  @Test func containerRequestedTwiceContinuesTheFirst() throws {
    struct Split: Codable, Sendable, Equatable {
      var a = 1
      var b = 2
      enum CodingKeys: CodingKey { case inner, a, b }

      init() {}
      init(from decoder: any Decoder) throws {
        let inner = try decoder.container(keyedBy: CodingKeys.self)
          .nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
        a = try inner.decode(Int.self, forKey: .a)
        b = try inner.decode(Int.self, forKey: .b)
      }
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: CodingKeys.self)
        var first = outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
        try first.encode(a, forKey: .a)
        var second = outer.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
        try second.encode(b, forKey: .b)
      }
    }
    try withStore { store in
      let table = try store.table(TableName<Split>("t"))
      #expect(try table.value(of: table.add(Split())) == Split())
    }
  }

  @Test func emptyTypeStillRequiresItsField() throws {
    struct Nothing: Codable {}
    struct Holder: Codable, Sendable { var nothing = Nothing() }
    try withStore { store in
      let table = try store.table(TableName<Holder>("t"))
      _ = try table.value(of: table.add(Holder()))
      let id = try store.table("t").add([:])
      #expect(storeError { _ = try table.value(of: RecordID(id)) }?.field == "nothing")
    }
  }

  private func expectSame(_ read: [Sample], _ written: [Sample]) throws {
    try #require(read.count == written.count)
    for (read, written) in zip(read, written) where read != written {
      for (mine, theirs) in zip(Mirror(reflecting: read).children, Mirror(reflecting: written).children)
      where String(reflecting: mine.value) != String(reflecting: theirs.value) {
        Issue.record("\(mine.label ?? ""): read \(mine.value), written \(theirs.value)")
      }
      Issue.record("a value is not as it was written")
    }
  }
}

extension SeededRandom {
  fileprivate mutating func samples(_ count: Int) -> [Sample] { (0..<count).map { _ in sample() } }
}
