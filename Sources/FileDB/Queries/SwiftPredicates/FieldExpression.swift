import FileDBEssentials

/// An expression of a Swift predicate that can be evaluated with some fields of a record instead of the whole value.
///
/// Each conformance does the same as the expression's own `evaluate`.
protocol FieldExpression: PredicateExpression {
  /// - Returns: `nil` if it needs the whole value.
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>?
}

/// An expression that is ready to be evaluated for the record at the compiler's cursor.
struct Evaluation<Output> {
  let evaluate: () throws -> Output

  init(_ evaluate: @escaping () throws -> Output) { self.evaluate = evaluate }

  func callAsFunction() throws -> Output { try evaluate() }
}

extension PredicateExpressions.Value: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    let value = value
    return Evaluation { value }
  }
}

extension PredicateExpressions.NilLiteral: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Wrapped?>? {
    Evaluation { nil }
  }
}

extension PredicateExpressions.Variable: FieldExpression {
  /// The predicate's own variable stands for the whole value.
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.binding(of: self).map { binding in
      Evaluation {
        guard let value = binding.value else { throw Undecided() }
        return value
      }
    }
  }
}

extension PredicateExpressions.KeyPath: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    if let field = compiler.field(of: root, keyPath) { return field }
    let keyPath = keyPath
    return compiler.compile(root).map { root in Evaluation { try root()[keyPath: keyPath] } }
  }
}

extension PredicateExpressions.Conjunction: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(lhs, rhs) { try $0() && $1() }
  }
}

extension PredicateExpressions.Disjunction: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(lhs, rhs) { try $0() || $1() }
  }
}

extension PredicateExpressions.Negation: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(wrapped).map { wrapped in Evaluation { try !wrapped() } }
  }
}

extension PredicateExpressions.Equal: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(lhs, rhs) { try $0() == $1() }
  }
}

extension PredicateExpressions.NotEqual: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(lhs, rhs) { try $0() != $1() }
  }
}

extension PredicateExpressions.Comparison: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    switch op {
    case .lessThan: compiler.compile(lhs, rhs) { try $0() < $1() }
    case .lessThanOrEqual: compiler.compile(lhs, rhs) { try $0() <= $1() }
    case .greaterThan: compiler.compile(lhs, rhs) { try $0() > $1() }
    case .greaterThanOrEqual: compiler.compile(lhs, rhs) { try $0() >= $1() }
    @unknown default: nil
    }
  }
}

extension PredicateExpressions.Arithmetic: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    switch op {
    case .add: compiler.compile(lhs, rhs) { try $0() + $1() }
    case .subtract: compiler.compile(lhs, rhs) { try $0() - $1() }
    case .multiply: compiler.compile(lhs, rhs) { try $0() * $1() }
    @unknown default: nil
    }
  }
}

extension PredicateExpressions.UnaryMinus: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.compile(wrapped).map { wrapped in Evaluation { try -wrapped() } }
  }
}
