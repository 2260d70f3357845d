import FileDBEssentials
import FileDBPlist
import FileDBTables

/// A condition on records, read from text at run time, in the syntax of `NSPredicate`.
///
///     let cheese = try RecordPredicate("group == 'Dairy' AND name CONTAINS[cd] 'creme' AND kcal < 300")
///     for record in food.snapshot().records(where: cheese) { print(record.id) }
///
/// Pass values from a user or a variable as arguments: `%@` is replaced by a value, `%K` by the name of a field. FileDB
/// never parses an argument as part of the text.
///
///     let light = try RecordPredicate("kcal <= %@ AND %K == %@", limit, "group", name)
///     let same = try RecordPredicate("kcal <= $limit AND group == $group", arguments: ["limit": limit, "group": name])
///
/// A predicate is parsed once and can test any number of records. It reads only the fields that it names. <doc:Queries>
/// describes the language, and how values of different types compare.
///
/// Two predicates are equal if they state the same condition in the same way. Spaces, the spelling of operators, and how
/// values were passed in do not matter.
public struct RecordPredicate: Equatable, Sendable {
  let node: PredicateNode

  /// Reads a predicate from text.
  /// - Parameters:
  ///   - text: the predicate.
  ///   - arguments: one for each `%@` and `%K`, in order. For `%K`, pass the name of a field as a `String`; a dot in it
  ///     is part of the name. For `%@`, pass any value that a record could hold, except a dictionary; `nil` is `NULL`.
  /// - Throws: ``StoreError/Code/invalidPredicate``, with the ``StoreError/column`` and an ``StoreError/excerpt``.
  /// - Complexity: O(*n*) in the length of the text, which may have up to 1 MB and 100 levels.
  public init(_ text: String, _ arguments: (any Encodable)?...) throws {
    try self.init(text, arguments: arguments)
  }

  /// Reads a predicate from text, with the arguments in an array.
  /// - Throws: as ``init(_:_:)``.
  /// - Complexity: as ``init(_:_:)``.
  public init(_ text: String, arguments: [(any Encodable)?]) throws {
    var arguments = PredicateArguments(arguments)
    node = try PredicateParser.parse(text, &arguments)
  }

  /// Reads a predicate that a person wrote in their time zone.
  ///
  /// A date without `Z` or an offset is in this time zone, and `TODAY` is its present day. The other initializers read
  /// such a date as UTC.
  /// - Throws: as ``init(_:_:)``.
  /// - Complexity: as ``init(_:_:)``.
  public init(_ text: String, in timeZone: TimeZone) throws {
    var arguments = PredicateArguments([])
    arguments.zone = timeZone
    node = try PredicateParser.parse(text, &arguments)
  }

  /// Reads a predicate from text, with arguments by name: `$limit` in the text is replaced by the value of `limit`.
  /// - Throws: ``StoreError/Code/invalidPredicate``, also if an argument is missing or not used.
  public init(_ text: String, arguments: [String: (any Encodable)?]) throws {
    try self.init(allOf: [text], arguments: arguments)
  }

  /// A predicate that is true if all of these texts are true. Each is parsed separately. They share the arguments.
  package init(allOf texts: [String], arguments: [String: (any Encodable)?]) throws {
    var arguments = PredicateArguments(arguments)
    let nodes = try texts.map { text in try PredicateParser.parse(text, &arguments) }
    if let name = arguments.unusedNames.min() {
      throw StoreError(
        .invalidPredicate,
        "the argument '\(name)' is not used: the predicate does not contain $\(name)")
    }
    node = nodes.count == 1 ? nodes[0] : .and(nodes)
  }

  /// Whether the record matches the predicate.
  ///
  /// To test all records of a snapshot, ``TableSnapshot/records(where:)-(RecordPredicate)`` is faster.
  /// - Throws: ``StoreError/Code/matchLimitExceeded`` if a regular expression takes too many steps on a text of the
  ///   record; ``StoreError/Code/invalidPredicate`` if `id` may mean two things, see
  ///   ``TableSnapshot/records(where:)-(RecordPredicate)``; for a ``VersionedValue``,
  ///   ``StoreError/Code/newerVersion`` and ``StoreError/Code/migrationFailed``.
  /// - Complexity: O(*n*) in the size of the record.
  public func matches<Value>(_ record: StoredRecord<Value>) throws(StoreError) -> Bool {
    do {
      try checkIDs(as: Value.self, of: [record.encoded])
      let form = ValueForm(Value.self)
      return try matches(record.encoded, as: form, form.makeFields())
    } catch {
      throw error.adding(table: record.source.table)
    }
  }

  /// - Parameter fields: the form's fields, for reading the record.
  func matches(
    _ record: EncodedRecord, as form: ValueForm, _ fields: RecordFields
  ) throws(StoreError) -> Bool {
    try fields.read(form.newest(record)) { () throws(StoreError) in
      try matches(PredicateRecord(id: record.id, fields: fields))
    }
  }

  func matches(_ record: PredicateRecord) throws(StoreError) -> Bool {
    do {
      return try node.isTrue(of: record)
    } catch {
      throw error.adding(record: record.id)
    }
  }
}

extension RecordPredicate: CustomStringConvertible {
  /// The predicate as text, with its arguments filled in. A predicate read from this text equals this one.
  public var description: String { node.description }
}
