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

  /// - Throws: ``Undecided`` if the field is not enough.
  func property<Field>(_ field: PropertyField<Field>, _ place: Int) throws -> Field {
    guard let property = field.property(in: fields[place], index, of: records[index]) else {
      throw Undecided()
    }
    return property
  }
}

/// The present value of a predicate's variable, other than the record's value.
final class PredicateBinding<Value> {
  var value: Value?
}

/// Compiles expressions of a predicate, so that they can be evaluated with fields of records.
final class PredicateCompiler<Value: Codable> {
  let cursor = RecordCursor()
  /// The fields that the predicate uses.
  private(set) var references: [FieldReference] = []
  private let variable: PredicateExpressions.VariableID
  private var bindings: [PredicateExpressions.VariableID: AnyObject] = [:]

  /// Records in which properties are looked for.
  private let records: OrderedRecords

  /// - Parameter variable: the variable that stands for the record's value.
  init(_ variable: PredicateExpressions.Variable<Value>, _ records: OrderedRecords) {
    (self.variable, self.records) = (variable.key, records)
  }

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
      let path = path as? KeyPath<Value, Output>, let field = PropertyField(path, in: records)
    else { return nil }
    let place = references.firstIndex(of: field.reference) ?? references.count
    if place == references.count { references.append(field.reference) }
    return Evaluation { [cursor] in try cursor.property(field, place) }
  }
}
