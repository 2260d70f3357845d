import ArgumentParser
import FileDB

/// `--where PREDICATE`, which may be repeated, and the values for it.
struct WhereOption: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      """
      Only records that match this predicate, such as 'kcal > 100 AND group = "Fruit"'. If given more than once, records \
      must match all of them. 'filedb help show' explains predicates.
      """,
      valueName: "predicate")
  )
  var texts: [String] = []
  @Option(
    name: .customLong("arg"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The value of $NAME in a predicate: NAME=VALUE, or NAME:TYPE=VALUE, as for a field.",
      valueName: "name=value"), transform: NamedArgument.init(argument:))
  var arguments: [NamedArgument] = []

  static let grammar = """
    A PREDICATE is a condition in the language of NSPredicate: kcal > 100 AND name CONTAINS[cd] "creme". Compare with \
    = != < <= > >=, BETWEEN {low, high}, IN {a, b}, CONTAINS, BEGINSWITH, ENDSWITH, LIKE (with * and ?) or MATCHES (a \
    regular expression). Combine conditions with AND, OR, NOT and parentheses. A field by itself is true if it holds a \
    true Boolean: done AND NOT hidden. IS NULL and IS NOT NULL test whether a field is missing. [c] after an operator \
    ignores case, [d] accents, [cd] both. Put text and dates in quotes. A missing field is NULL. id is the record's \
    id, and fields.id is a field called id. Write #"any name" for a name with special characters, and a\\.b for a name \
    with a dot. a.b, a[0] and a.@count look into dictionaries and arrays. ANY, ALL and NONE test each element of an \
    array. A number never equals text, and the number 1 by itself is not true.

    An EXPRESSION calculates with + - * / and parentheses: kcal * 2 > protein + 4. + also joins text. now is this \
    moment, and today is this day. Add a span of time to a date, or subtract it: due < today + 7d. The units are min, \
    h, d, w, m (months) and y. For a field called now or today, write #today. The functions are length(text), \
    lowercase(text), uppercase(text), trimmed(text), replace(text, 'old', 'new'), round(number, digits) and \
    days(from, to): trimmed(name) != name, days(created, today) > 30.

    To pass in a value safely, use --arg. Its value is never read as part of the predicate: --where 'name == $n AND \
    kcal > $k' --arg n="O'Brien" --arg k:integer=50. If you give several --where, a record must match all of them. If \
    no record has a field that you name, or if a field never has values of the type that you compare it with, filedb \
    prints a message. A command that writes then changes nothing, unless you give --allow-unknown.
    """

  var isGiven: Bool { !texts.isEmpty }

  /// Records to change must be chosen either by ids or by a condition.
  func validate(besides ids: [IDWord]) throws {
    if ids.isEmpty != isGiven { throw ValidationError("Name the records by their ids, or by --where.") }
  }

  /// - Parameter used: the names of arguments that are used elsewhere.
  /// - Throws: ``StoreError/Code/invalidPredicate``; `ValidationError` for arguments without a condition.
  func predicate(besides used: Set<String> = []) throws -> RecordPredicate? {
    let values = try values().filter { name, _ in
      !used.contains(name) || texts.contains { $0.contains("$\(name)") }
    }
    guard isGiven else {
      if values.isEmpty { return nil }
      throw ValidationError("--arg needs --where.")
    }
    return try RecordPredicate(allOf: texts, arguments: values)
  }

  func values() throws -> [String: PlistValue] {
    var values: [String: PlistValue] = [:]
    for argument in arguments {
      let value = try argument.value.value(of: "$" + argument.name)
      guard values.updateValue(value, forKey: argument.name) == nil else {
        throw ValidationError("The argument '\(argument.name)' is given twice.")
      }
    }
    return values
  }

  /// The matches of the condition, for a command that only reads; `nil` if there is no condition. Notes what is probably
  /// wrong in it.
  func matches(in snapshot: TableSnapshot<Fields>) throws -> RecordMatches<Fields>? {
    guard let predicate = try predicate() else { return nil }
    let matches = try snapshot.matches(where: predicate)
    for fault in predicate.faults(in: snapshot, unknown: matches.unknownFields) { Terminal.note(fault) }
    return matches
  }
}

/// The condition of a command that writes.
struct WriteCondition: ParsableArguments {
  @OptionGroup var matching: WhereOption
  @Flag(help: "Accept a predicate that names fields no record has, or compares values of different types.")
  var allowUnknown = false
  @Flag(help: "Accept that no record matches; otherwise this is an error, with the exit code 1.")
  var allowEmpty = false

  /// The records to change; `nil` if there is no condition.
  /// - Parameter used: the names of arguments that are used elsewhere.
  /// - Throws: ``StoreError/Code/invalidPredicate``, also if it names a field that no record has, or compares a field
  ///   with a value of a type that the field never has: both would match no record, or all;
  ///   ``StoreError/Code/recordNotFound`` if no record matches, unless that is allowed.
  func records(
    of snapshot: TableSnapshot<Fields>, besides used: Set<String> = []
  ) throws -> [StoredRecord<Fields>]? {
    guard let predicate = try matching.predicate(besides: used) else { return nil }
    let matches = try snapshot.matches(where: predicate)
    let faults = allowUnknown ? [] : predicate.faults(in: snapshot, unknown: matches.unknownFields)
    guard faults.isEmpty else {
      throw StoreError(
        .invalidPredicate,
        (faults + ["use --allow-unknown to run it anyway"]).joined(separator: "\n"))
    }
    guard matches.count > 0 || allowEmpty else { throw StoreError.noMatch(in: TableName(snapshot.table)) }
    return matches.records
  }
}

extension Terminal {
  /// Notes which of these fields no record has. They are probably mistyped.
  static func noteUnknown(_ fields: [FieldReference], in snapshot: TableSnapshot<Fields>) {
    for field in snapshot.unknownFields(among: fields) {
      let guess = field.nearest.map { "; did you mean '\($0)'?" } ?? ""
      note("no record of '\(snapshot.table)' has a field '\(field.name)'\(guess)")
    }
  }
}

extension RecordPredicate {
  /// What is probably wrong in it: names of fields that no record has, and comparisons that can never be true.
  func faults(in snapshot: TableSnapshot<Fields>, unknown: [UnknownField]) -> [String] {
    unknown.map { $0.description(in: snapshot.table) } + mistypedComparisons(in: snapshot).map(\.description)
  }
}

extension UnknownField {
  /// A description for people. A name that is not similar to any other is often a string without its quotes.
  fileprivate func description(in table: String) -> String {
    let guess = nearest.map { "did you mean '\($0)'?" } ?? "if you meant text, write \"\(name)\", with quotes"
    return "no record of '\(table)' has a field '\(name)'; \(guess)"
  }
}

extension StoreError {
  static func noMatch(in table: TableName<Fields>) -> StoreError {
    StoreError(.recordNotFound, "no record matches", table: table.text)
  }
}

extension Terminal {
  /// Notes how many records a write has changed.
  static func note(_ count: Int, _ verb: String, by options: WriteOptions) {
    note("\(count.counted("record")) \(options.dryRun ? "would be " : "")\(verb)")
  }
}
