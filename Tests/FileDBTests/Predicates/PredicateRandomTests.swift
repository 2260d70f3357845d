import FileDB
import Foundation
import TestSupport
import Testing

/// Random predicates over random records, against a model that knows neither text nor bytes.
@Suite struct PredicateRandomTests {
  private static let relations = ["==", "!=", "<", "<=", ">", ">="]

  @Test func randomPredicatesAgreeWithModel() throws {
    var random = SeededRandom.fromEnvironment("randomPredicatesAgreeWithModel")
    let records = (1...120).map { Self.record(id: $0, &random) }
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: records.map(\.record))
      var matches = 0
      for _ in 0..<1_500 {
        let model = Self.model(depth: 3, &random)
        let predicate = try RecordPredicate(model.text)
        let expected = records.filter(model.isTrue).compactMap { RecordID<Fields>(rawValue: Int64($0.id)) }
        #expect(try table.lastSnapshot.records(where: predicate).map(\.id) == expected, "\(model.text)")
        #expect(try table.lastSnapshot.first(where: predicate)?.id == expected.first)
        let again = try RecordPredicate(predicate.description)
        #expect(again == predicate && again.description == predicate.description, "\(predicate)")
        matches += expected.count
      }
      #expect((30_000...150_000).contains(matches), "the predicates choose some and leave some: \(matches)")
    }
  }

  private static func record(id: Int, _ random: inout SeededRandom) -> ModelRecord {
    let count = Int.random(in: 0...3, using: &random)
    return ModelRecord(
      id: id, f: value(&random), g: value(&random), key: value(&random),
      list: (0..<count).map { _ in value(&random) }.filter { $0 != .missing })
  }

  private static func value(_ random: inout SeededRandom) -> ModelValue {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .missing
    case 1: .bool(.random(using: &random))
    case 2, 3: .integer(.random(in: -1...3, using: &random))
    case 4: .real([-1, -0.5, 0.0, 1, 1.5, 2][Int.random(in: 0..<6, using: &random)])
    case 5: .date(.random(in: 1...3, using: &random))
    case 6: .dayText(.random(in: 1...3, using: &random))
    default: .text(letters(&random))
    }
  }

  private static func letters(_ random: inout SeededRandom) -> [ModelLetter] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in ModelLetter.all.randomElement(using: &random)! }
  }

  private static func model(depth: Int, _ random: inout SeededRandom) -> PredicateModel {
    let path = ModelPath.allCases.randomElement(using: &random)!
    let folding = ModelFolding.allCases.randomElement(using: &random)!
    let relation = relations.randomElement(using: &random)!
    func models() -> [PredicateModel] {
      (0..<Int.random(in: 2...3, using: &random)).map { _ in model(depth: depth - 1, &random) }
    }
    switch Int.random(in: 0..<(depth > 0 ? 13 : 9), using: &random) {
    case 0: return .truth(.random(using: &random))
    case 1: return .between(path, folding, value(&random), value(&random))
    case 2:
      return .isIn(path, folding, (0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random) })
    case 3, 4:
      let word = ["CONTAINS", "BEGINSWITH", "ENDSWITH"].randomElement(using: &random)!
      return .within(path, word, folding, letters(&random))
    case 5:
      let quantifier = ["ANY", "SOME", "ALL", "NONE"].randomElement(using: &random)!
      return .some(
        quantifier, ["list", "f"].randomElement(using: &random)!, relation, folding, value(&random))
    case 6...8: return .compare(path, relation, folding, value(&random))
    case 9, 10: return .not(model(depth: depth - 1, &random))
    case 11: return .and(models())
    default: return .or(models())
    }
  }
}
