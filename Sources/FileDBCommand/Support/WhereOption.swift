import ArgumentParser
import FileDB

/// `--where PREDICATE`.
struct WhereOption: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("Only the records of which this is true.", valueName: "predicate"))
  var text: String?

  static let grammar = """
    A PREDICATE is written as for NSPredicate: kcal > 100 AND name CONTAINS[cd] "creme". It compares by = != < <= > >=, \
    BETWEEN {low, high}, IN {a, b}, CONTAINS, BEGINSWITH, ENDSWITH, LIKE (with * and ?) and MATCHES (a regular expression), \
    and joins by AND, OR, NOT and parentheses. [c] behind a comparison ignores case, [d] accents, [cd] both. Text and dates \
    are in quotes; a missing field is NULL; id is the record's id; #"any name" is a field of that name; a.b, a[0] and \
    a.@count look into dictionaries and arrays, ANY, ALL and NONE at each element. A number never equals a text.
    """

  var isGiven: Bool { text != nil }

  /// Records to change are named in one way.
  func validate(besides ids: [RecordID]) throws {
    if ids.isEmpty != isGiven { throw ValidationError("Name the records by their ids, or by --where.") }
  }

  /// - Throws: ``StoreError/invalidPredicate``.
  func predicate() throws -> RecordPredicate? { try text.map { try RecordPredicate($0) } }

  /// - Throws: ``StoreError/invalidPredicate``, too where a text is compared with the dates of a field and is none.
  func predicate(for snapshot: TableSnapshot<Fields>) throws -> RecordPredicate? {
    let predicate = try predicate()
    try predicate?.checkDates(in: snapshot)
    return predicate
  }
}

extension StoreError {
  static func noMatch(in table: TableName<Fields>) -> StoreError {
    StoreError(StoreError.recordNotFound, "no record matches", table: table.text)
  }
}

extension Terminal {
  /// Says how many records a write was about.
  static func note(_ count: Int, _ verb: String, by options: WriteOptions) {
    note((count == 1 ? "1 record " : "\(count) records ") + (options.dryRun ? "would be " : "") + verb)
  }
}
