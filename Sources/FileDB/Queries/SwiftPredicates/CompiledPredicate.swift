import FileDBEssentials
import FileDBTables
import Synchronization

/// A Swift predicate that reads only the fields that it uses.
final class CompiledPredicate<Value: Codable & Sendable>: Sendable {
  let references: [FieldReference]
  private let predicate: Predicate<Value>
  private let records: OrderedRecords
  /// One for each thread. Each is used only by the thread that takes it out.
  private let spare: Mutex<[CompiledTest<Value>]>

  /// - Parameter records: those in which the fields of properties are looked for.
  /// - Returns: `nil` for a predicate that needs whole values.
  init?(_ predicate: Predicate<Value>, in records: OrderedRecords) {
    guard let test = CompiledTest(predicate, records) else { return nil }
    (self.predicate, self.records) = (predicate, records)
    references = test.references
    spare = Mutex([test])
  }

  /// The matching records of a chunk.
  /// - Throws: if a record's fields are not enough, the error that it does not fit its type; what the predicate throws.
  func matches(
    _ records: [EncodedRecord], _ fields: [ChunkValues], from source: TableSource
  ) throws -> [EncodedRecord] {
    guard let test = spare.withLock({ $0.popLast() }) ?? CompiledTest(predicate, self.records) else {
      preconditionFailure("the predicate was compiled before")
    }
    let cursor = test.cursor
    (cursor.records, cursor.fields) = (records, fields)
    defer {
      (cursor.records, cursor.fields) = ([], [])
      spare.withLock { $0.append(test) }
    }
    var reader = ValueReader<Value>()
    var matches: [EncodedRecord] = []
    for (index, record) in records.enumerated() {
      cursor.index = index
      let isMatch: Bool
      do { isMatch = try test.isTrue() } catch {
        let value = try StoreError.naming(record, of: source) { try reader.value(of: record) }
        isMatch = try predicate.evaluate(value)
      }
      if isMatch { matches.append(record) }
    }
    return matches
  }
}

/// The compiled predicate, for one thread at a time.
///
/// Unchecked: ``CompiledPredicate`` lends it to one thread at a time.
private struct CompiledTest<Value: Codable & Sendable>: @unchecked Sendable {
  let references: [FieldReference]
  let isTrue: Evaluation<Bool>
  let cursor: RecordCursor

  /// - Returns: `nil` for a predicate that needs whole values.
  init?(_ predicate: Predicate<Value>, _ records: OrderedRecords) {
    let compiler = PredicateCompiler(predicate.variable, records)
    func compile(_ expression: some PredicateExpression<Bool>) -> Evaluation<Bool>? {
      compiler.compile(expression)
    }
    guard let test = compile(predicate.expression) else { return nil }
    (isTrue, references, cursor) = (test, compiler.references, compiler.cursor)
  }
}
