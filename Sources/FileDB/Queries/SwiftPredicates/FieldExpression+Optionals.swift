import FileDBEssentials

extension PredicateExpressions.NilCoalesce: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.compile(lhs, rhs) { try $0() ?? $1() }
  }
}

extension PredicateExpressions.ForcedUnwrap: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.compile(inner).map { inner in
      Evaluation {
        // The predicate's own evaluation throws the right error.
        guard let value = try inner() else { throw Undecided() }
        return value
      }
    }
  }
}

extension PredicateExpressions.OptionalFlatMap: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    let binding = compiler.bind(variable)
    guard let wrapped = compiler.compile(wrapped), let transform = compiler.compile(transform) else {
      return nil
    }
    // The closure may return a result or an optional result.
    if let transform = transform as? Evaluation<Result> {
      return Evaluation {
        try wrapped().map { value in
          binding.value = value
          return try transform()
        }
      }
    }
    guard let transform = transform as? Evaluation<Result?> else { return nil }
    return Evaluation {
      try wrapped().flatMap { value in
        binding.value = value
        return try transform()
      }
    }
  }
}

extension PredicateExpressions.Conditional: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    guard let test = compiler.compile(test) else { return nil }
    return compiler.compile(trueBranch, falseBranch) { try test() ? $0() : $1() }
  }
}
