import FileDB
import Foundation
import TestSupport

/// A predicate as a tree, which finds in plain Swift the records that match.
indirect enum PredicateModel {
  case truth(Bool)
  case compare(ModelPath, String, ModelFolding, ModelValue)
  case between(ModelPath, ModelFolding, ModelValue, ModelValue)
  case isIn(ModelPath, ModelFolding, [ModelValue])
  case within(ModelPath, String, ModelFolding, [ModelLetter])
  case some(String, String, String, ModelFolding, ModelValue)
  case not(PredicateModel)
  case and([PredicateModel])
  case or([PredicateModel])
}

enum ModelFolding: String, CaseIterable {
  case exact = ""
  case c = "[c]"
  case d = "[d]"
  case cd = "[cd]"
}

/// A letter with what is left of it under each folding, written down by hand.
struct ModelLetter: Equatable {
  var text: String
  var folds: [ModelFolding: String]

  init(_ text: String, c: String, d: String, cd: String) {
    self.text = text
    folds = [.exact: text, .c: c, .d: d, .cd: cd]
  }

  static let all = [
    ModelLetter("a", c: "a", d: "a", cd: "a"), ModelLetter("A", c: "a", d: "A", cd: "a"),
    ModelLetter("\u{E9}", c: "\u{E9}", d: "e", cd: "e"),
    ModelLetter("E\u{301}", c: "\u{E9}", d: "E", cd: "e"),
    ModelLetter("e", c: "e", d: "e", cd: "e"), ModelLetter("ß", c: "ss", d: "ß", cd: "ss"),
    ModelLetter("S", c: "s", d: "S", cd: "s"), ModelLetter("*", c: "*", d: "*", cd: "*"),
    ModelLetter("'", c: "'", d: "'", cd: "'"), ModelLetter("\\", c: "\\", d: "\\", cd: "\\"),
    ModelLetter("ς", c: "σ", d: "ς", cd: "σ"), ModelLetter("Σ", c: "σ", d: "Σ", cd: "σ"),
  ]
}

enum ModelValue: Equatable {
  case missing
  case bool(Bool)
  case integer(Int)
  case real(Double)
  case text([ModelLetter])
  /// The text of a day of January 2026, which a predicate can compare with a date.
  case dayText(Int)
  case date(Int)
}

enum ModelPath: CaseIterable {
  case f, g, key, first, count, id

  var text: String {
    switch self {
    case .f: "f"
    case .g: "#'g h'"
    case .key: "d.k"
    case .first: "list[0]"
    case .count: "list.@count"
    case .id: "id"
    }
  }
}

struct ModelRecord {
  var id: Int
  var f, g, key: ModelValue
  var list: [ModelValue]

  subscript(path: ModelPath) -> ModelValue {
    switch path {
    case .f: f
    case .g: g
    case .key: key
    case .first: list.first ?? .missing
    case .count: .integer(list.count)
    case .id: .integer(id)
    }
  }

  var record: Fields {
    var inner = PlistDictionary()
    inner["k"] = key.plist
    var record: Fields = [
      "list": .array(list.compactMap(\.plist)), "d": .dict(inner), "z": "never asked for",
    ]
    record["f"] = f.plist
    record["g h"] = g.plist
    return record
  }
}

/// The model's answer.
extension PredicateModel {
  func isTrue(of record: ModelRecord) -> Bool {
    switch self {
    case .truth(let truth): truth
    case .compare(let path, let relation, let folding, let value):
      Self.compare(record[path], relation, value, folding)
    case .between(let path, let folding, let low, let high):
      Self.compare(record[path], ">=", low, folding) && Self.compare(record[path], "<=", high, folding)
    case .isIn(let path, let folding, let values):
      values.contains { Self.compare(record[path], "==", $0, folding) }
    case .within(let path, let word, let folding, let part):
      Self.isWithin(record[path].string(folding), word, part.map { $0.folds[folding]! }.joined())
    case .some(let quantifier, let path, let relation, let folding, let value):
      Self.count(quantifier, path == "list" ? record.list : [record[.f]].filter { $0 != .missing }) {
        Self.compare($0, relation, value, folding)
      }
    case .not(let model): !model.isTrue(of: record)
    case .and(let models): !models.contains { !$0.isTrue(of: record) }
    case .or(let models): models.contains { $0.isTrue(of: record) }
    }
  }

  private static func count(_ quantifier: String, _ values: [ModelValue], _ test: (ModelValue) -> Bool)
    -> Bool
  {
    let count = values.filter(test).count
    return quantifier == "ALL" ? count == values.count : (count == 0) == (quantifier == "NONE")
  }

  private static func isWithin(_ text: String?, _ word: String, _ part: String) -> Bool {
    guard let text else { return false }
    let (whole, piece) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
    let places = (0...whole.count).filter { whole[$0...].starts(with: piece) }
    return switch word {
    case "BEGINSWITH": places.contains(0)
    case "ENDSWITH": places.contains(whole.count - piece.count)
    default: !places.isEmpty
    }
  }

  static func compare(_ left: ModelValue, _ relation: String, _ right: ModelValue, _ folding: ModelFolding)
    -> Bool
  {
    if relation == "==" || relation == "!=" {
      let isEqual = left == .missing && right == .missing || order(left, right, folding) == 0
      return isEqual == (relation == "==")
    }
    guard let order = order(left, right, folding) else { return false }
    return switch relation {
    case "<": order < 0
    case "<=": order <= 0
    case ">": order > 0
    default: order >= 0
    }
  }

  /// - Parameter right: the predicate's.
  private static func order(_ left: ModelValue, _ right: ModelValue, _ folding: ModelFolding) -> Int? {
    func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    if let a = left.number, let b = right.number { return order(a, b) }
    switch (left, right) {
    case (.date(let a), .date(let b)), (.date(let a), .dayText(let b)):
      return order(a, b)
    default:
      guard let a = left.string(folding), let b = right.string(folding) else { return nil }
      return Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
        ? -1 : a.utf8.elementsEqual(b.utf8) ? 0 : 1
    }
  }
}

extension ModelValue {
  var number: Double? {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  func string(_ folding: ModelFolding) -> String? {
    switch self {
    case .text(let letters): letters.map { $0.folds[folding]! }.joined()
    case .dayText(let day): "2026-01-0\(day)" + (folding == .c || folding == .cd ? "t00:00z" : "T00:00Z")
    default: nil
    }
  }

  var plist: PlistValue? {
    switch self {
    case .missing: nil
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(Int64(value))
    case .real(let value): .real(value)
    case .text, .dayText: string(.exact).map(PlistValue.string)
    case .date(let day): .date(Date(timeIntervalSince1970: 1_767_225_600 + Double(day - 1) * 86_400))
    }
  }
}

/// The model as text.
extension PredicateModel {
  var text: String {
    switch self {
    case .truth(let truth): truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .compare(let path, let relation, let folding, let value):
      "\(path.text) \(relation)\(folding.rawValue) \(value.literal)"
    case .between(let path, let folding, let low, let high):
      "\(path.text) BETWEEN\(folding.rawValue) {\(low.literal), \(high.literal)}"
    case .isIn(let path, let folding, let values):
      "\(path.text) IN\(folding.rawValue) {" + values.map(\.literal).joined(separator: ",") + "}"
    case .within(let path, let word, let folding, let part):
      "\(path.text) \(word)\(folding.rawValue) \(ModelValue.text(part).literal)"
    case .some(let quantifier, let path, let relation, let folding, let value):
      "\(quantifier) \(path) \(relation)\(folding.rawValue) \(value.literal)"
    case .not(let model): "NOT (\(model.text))"
    case .and(let models): "(" + models.map(\.text).joined(separator: ") AND (") + ")"
    case .or(let models): models.map { "(\($0.text))" }.joined(separator: "||")
    }
  }
}

extension ModelValue {
  fileprivate var literal: String {
    switch self {
    case .missing: "NULL"
    case .bool(let value): value ? "YES" : "FALSE"
    case .integer(let value): value.description
    case .real(let value): value.description
    case .text, .dayText:
      "'" + string(.exact)!.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    case .date(let day): "DATE('2026-01-0\(day)')"
    }
  }
}
