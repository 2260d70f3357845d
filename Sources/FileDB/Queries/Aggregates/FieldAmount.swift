import FileDBEssentials

/// A type of amounts that FileDB adds up by the type's own `+`: `Decimal` and `Duration`.
public protocol FieldAmount: AdditiveArithmetic, Codable, Sendable {
  /// The amount divided by a whole number.
  func _divided(by count: Int) -> Self
}

extension Decimal: FieldAmount {
  public func _divided(by count: Int) -> Decimal { self / Decimal(count) }
}

extension Duration: FieldAmount {
  public func _divided(by count: Int) -> Duration { self / count }
}

extension AggregatedRecords {
  /// The sum of the amounts at `path`; zero if there are no records.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: O(*n*).
  public func sum<Amount: FieldAmount>(of path: KeyPath<Value, Amount>) throws -> Amount {
    try properties(at: path).reduce(.zero, +)
  }

  /// The sum of the amounts at `path`; zero if there are none. `nil` does not count.
  /// - Throws: as for a property that is not optional.
  /// - Complexity: O(*n*).
  public func sum<Amount: FieldAmount>(of path: KeyPath<Value, Amount?>) throws -> Amount {
    try properties(at: path).compactMap(\.self).reduce(.zero, +)
  }

  /// The average of the amounts at `path`; `nil` if there are no records.
  /// - Throws: ``StoreError/Code/invalidValue`` if a record does not fit the type.
  /// - Complexity: O(*n*).
  public func average<Amount: FieldAmount>(of path: KeyPath<Value, Amount>) throws -> Amount? {
    try properties(at: path).average
  }

  /// The average of the amounts at `path`; `nil` if there are none. `nil` does not count.
  /// - Throws: as for a property that is not optional.
  /// - Complexity: O(*n*).
  public func average<Amount: FieldAmount>(of path: KeyPath<Value, Amount?>) throws -> Amount? {
    try properties(at: path).compactMap(\.self).average
  }
}

extension Array where Element: FieldAmount {
  fileprivate var average: Element? { isEmpty ? nil : reduce(.zero, +)._divided(by: count) }
}
