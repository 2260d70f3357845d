import FileDBEssentials
import FileDBTables
import Synchronization

/// A Swift predicate that reads only the fields that it uses.
///
/// Unchecked: ``CompiledPredicates`` lends it to one thread at a time.
struct CompiledPredicate<Value: Codable & Sendable>: @unchecked Sendable {
  let references: [FieldReference]
  private let test: Evaluation<Bool>
  private let cursor: RecordCursor

  /// - Returns: `nil` for a predicate that needs whole values.
  init?(_ predicate: Predicate<Value>, _ records: OrderedRecords) {
    let compiler = PredicateCompiler(predicate.variable, records)
    func compile(_ expression: some PredicateExpression<Bool>) -> Evaluation<Bool>? {
      compiler.compile(expression)
    }
    guard let test = compile(predicate.expression) else { return nil }
    (self.test, references, cursor) = (test, compiler.references, compiler.cursor)
  }

  /// The matching records of a chunk.
  /// - Parameter whole: evaluates the predicate with a record's whole value.
  func matches(
    _ records: [EncodedRecord], _ fields: [ChunkValues], whole: (EncodedRecord) throws -> Bool
  ) throws -> [EncodedRecord] {
    (cursor.records, cursor.fields) = (records, fields)
    defer { (cursor.records, cursor.fields) = ([], []) }
    var matches: [EncodedRecord] = []
    for (index, record) in records.enumerated() {
      cursor.index = index
      let isMatch: Bool
      do { isMatch = try test() } catch { isMatch = try whole(record) }
      if isMatch { matches.append(record) }
    }
    return matches
  }
}

/// The same predicate for several threads.
final class CompiledPredicates<Value: Codable & Sendable>: Sendable {
  let references: [FieldReference]
  private let predicate: Predicate<Value>
  private let records: OrderedRecords
  /// Each is used only by the thread that takes it out.
  private let spare: Mutex<[CompiledPredicate<Value>]>

  /// - Parameter records: those in which the fields of properties are looked for.
  /// - Returns: `nil` for a predicate that needs whole values.
  init?(_ predicate: Predicate<Value>, in records: OrderedRecords) {
    guard let compiled = CompiledPredicate(predicate, records) else { return nil }
    (self.predicate, self.records) = (predicate, records)
    references = compiled.references
    spare = Mutex([compiled])
  }

  /// The matching records of a chunk.
  /// - Throws: if a record's fields are not enough, the error that it does not fit its type; what the predicate throws.
  func matches(
    _ records: [EncodedRecord], _ fields: [ChunkValues], from source: TableSource
  ) throws -> [EncodedRecord] {
    guard let own = spare.withLock({ $0.popLast() }) ?? CompiledPredicate(predicate, self.records) else {
      preconditionFailure("the predicate was compiled before")
    }
    defer { spare.withLock { $0.append(own) } }
    var reader = ValueReader<Value>()
    return try own.matches(records, fields) { record in
      try predicate.evaluate(try StoreError.naming(record, of: source) { try reader.value(of: record) })
    }
  }
}
