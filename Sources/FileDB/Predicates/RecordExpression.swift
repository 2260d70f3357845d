import FileDBPlist
import FileDBTables

/// A calculation with the fields of a record, in the language of predicates: `n + 1`, `today + 7d`, `NOT done`.
package struct RecordExpression: Sendable {
  private let meaning: PredicatePart
  private let text: String
  /// The names of the arguments that the text uses.
  package let usedArguments: Set<String>

  /// - Parameter arguments: the values for `$name`. There may be more than the text uses.
  /// - Throws: ``StoreError/Code/invalidPredicate``, also if an argument is missing.
  package init(_ text: String, arguments: [String: PlistValue] = [:]) throws {
    self.text = text
    var rest = PredicateArguments(arguments)
    meaning = try PredicateParser.parseExpression(text, &rest)
    usedArguments = Set(arguments.keys).subtracting(rest.unusedNames)
  }

  /// The names of the fields in the expression. A new record has none of them.
  package var fields: [String] { meaning.paths.map(\.description) }

  /// The result for a record with these fields.
  /// - Throws: ``StoreError/Code/invalidValue`` if there is no result: a field is missing or not a number, or the
  ///   result is too large; ``StoreError/Code/matchLimitExceeded``.
  package func value(of fields: Fields, id: AnyRecordID) throws(StoreError) -> PlistValue {
    let reader = RecordFields()
    return try reader.read(EncodedRecord(id: id, fields: fields)) { () throws(StoreError) in
      let record = PredicateRecord(id: id, fields: reader)
      switch meaning {
      case .node(let node): return .bool(try node.isTrue(of: record))
      case .operand(let operand):
        if let value = operand.term(of: record).storedValue { return value }
        throw StoreError(.invalidValue, "'\(text)' has no value\(reason(record))")
      }
    }
  }

  private func reason(_ record: PredicateRecord) -> String {
    guard let missing = meaning.paths.first(where: { $0.value(in: record) == nil }) else {
      return ": these values cannot be calculated with, or the result is too large"
    }
    return ": '\(missing)' is missing"
  }
}

extension PredicateTerm {
  /// `nil` for NULL, and for a list that contains NULL.
  fileprivate var storedValue: PlistValue? {
    switch self {
    case .null: return nil
    case .value(let value): return value.value
    case .list(let terms):
      let values = terms.compactMap(\.storedValue)
      return values.count == terms.count ? .array(values) : nil
    }
  }
}
