import FileDBEssentials
import FileDBPlist
import FileDBTables

/// The fields are not enough. The predicate is then evaluated with the whole value.
struct Undecided: Error {}

/// The record for which a compiled predicate is evaluated.
final class RecordCursor {
  var records: [EncodedRecord] = []
  /// The values of each field that the predicate uses.
  var fields: [ChunkValues] = []
  var index = 0

  /// - Throws: ``Undecided`` if the field's value is not of this type.
  func field<Field: Decodable>(_ place: Int, as type: Field.Type) throws -> Field {
    do {
      guard let value = fields[place].value(index, of: records[index]) else {
        return try MissingField.decode(type, AnyKey(""), in: [])
      }
      return try FieldsDecoder.decodeValue(type, from: value, codingPath: [])
    } catch {
      throw Undecided()
    }
  }
}

/// The present value of a predicate's variable, other than the record's value.
final class PredicateBinding<Value> {
  var value: Value?
}

/// Compiles expressions of a predicate, so that they can be evaluated with fields of records.
final class PredicateCompiler<Value: Decodable> {
  let cursor = RecordCursor()
  /// The fields that the predicate uses.
  private(set) var references: [FieldReference] = []
  private let variable: PredicateExpressions.VariableID
  private var bindings: [PredicateExpressions.VariableID: AnyObject] = [:]

  /// - Parameter variable: the variable that stands for the record's value.
  init(_ variable: PredicateExpressions.Variable<Value>) { self.variable = variable.key }

  /// - Returns: `nil` if the expression needs the whole value, or is of an unknown kind.
  func compile<Expression: PredicateExpression>(_ expression: Expression) -> Evaluation<Expression.Output>? {
    func compiled(_ expression: some FieldExpression) -> Any? { expression.compiled(by: self) }
    guard let known = expression as? any FieldExpression else { return nil }
    return compiled(known) as? Evaluation<Expression.Output>
  }

  func compile<Left: PredicateExpression, Right: PredicateExpression, Output>(
    _ left: Left, _ right: Right,
    _ evaluate: @escaping (Evaluation<Left.Output>, Evaluation<Right.Output>) throws -> Output
  ) -> Evaluation<Output>? {
    guard let left = compile(left), let right = compile(right) else { return nil }
    return Evaluation { try evaluate(left, right) }
  }

  /// Creates the storage for a variable's value.
  func bind<Output>(_ variable: PredicateExpressions.Variable<Output>) -> PredicateBinding<Output> {
    let binding = PredicateBinding<Output>()
    bindings[variable.key] = binding
    return binding
  }

  func binding<Output>(of variable: PredicateExpressions.Variable<Output>) -> PredicateBinding<Output>? {
    bindings[variable.key] as? PredicateBinding<Output>
  }

  /// Reads the field of a property; `nil` if this is not a property of the value, or if its field is not known.
  func field<Root: PredicateExpression, Output>(
    of root: Root, _ path: KeyPath<Root.Output, Output>
  ) -> Evaluation<Output>? {
    guard (root as? PredicateExpressions.Variable<Value>)?.key == variable,
      let type = Output.self as? any (Decodable & Equatable).Type
    else { return nil }
    return reading(type, at: path) as? Evaluation<Output>
  }

  private func reading<Field: Decodable & Equatable>(_ type: Field.Type, at path: AnyKeyPath) -> Any? {
    guard let path = path as? KeyPath<Value, Field>, let reference = KnownPaths.reference(of: path) else {
      return nil
    }
    let place = references.firstIndex(of: reference) ?? references.count
    if place == references.count { references.append(reference) }
    if let type = type as? any ColumnField.Type { return reading(type, place) }
    return Evaluation { [cursor] in try cursor.field(place, as: type) }
  }

  private func reading<Field: ColumnField>(_ type: Field.Type, _ place: Int) -> Any {
    Evaluation { [cursor] in
      if case .column(let column, _) = cursor.fields[place],
        let field = Field(in: column, cursor.index, of: cursor.records[cursor.index])
      {
        return field
      }
      return try cursor.field(place, as: type)
    }
  }
}
