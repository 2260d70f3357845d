import FileDBEssentials

extension PredicateExpressions.SequenceContains: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(sequence, element) { try $0().contains($1()) }
  }
}

extension PredicateExpressions.SequenceContainsWhere: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    let binding = compiler.bind(variable)
    return compiler.compile(sequence, test) { sequence, test in
      try sequence().contains { element in
        binding.value = element
        return try test()
      }
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    let binding = compiler.bind(variable)
    return compiler.compile(sequence, test) { sequence, test in
      try sequence().allSatisfy { element in
        binding.value = element
        return try test()
      }
    }
  }
}

extension PredicateExpressions.SequenceStartsWith: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(base, prefix) { try $0().starts(with: $1()) }
  }
}

extension PredicateExpressions.CollectionContainsCollection: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(base, other) { try $0().contains($1()) }
  }
}

extension PredicateExpressions.Range: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.compile(lower, upper) { lower, upper in
      let (lower, upper) = try (lower(), upper())
      guard lower <= upper else { throw Undecided() }
      return lower..<upper
    }
  }
}

extension PredicateExpressions.ClosedRange: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Output>? {
    compiler.compile(lower, upper) { lower, upper in
      let (lower, upper) = try (lower(), upper())
      guard lower <= upper else { throw Undecided() }
      return lower...upper
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: FieldExpression {
  func compiled<Value: Codable>(by compiler: PredicateCompiler<Value>) -> Evaluation<Bool>? {
    compiler.compile(range, element) { try $0().contains($1()) }
  }
}
