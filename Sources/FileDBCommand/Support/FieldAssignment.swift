import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

/// The `VALUE` of `NAME=VALUE` or `NAME:TYPE=VALUE`. After a type, `@` and a path mean the content of that file.
struct TypedText {
  let type: FieldType?
  let text: String

  /// The name at the beginning of `argument`, and the value after it.
  /// - Throws: `ValidationError` for a type that does not exist.
  static func parse(_ argument: String) throws -> (name: String, value: TypedText)? {
    // Search for bytes: for Swift, an accent after a character makes it another character.
    guard let equals = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let left = argument[..<equals]
    let text = String(argument[argument.utf8.index(after: equals)...])
    // A colon always comes before a type. A mistyped type should not become part of the name.
    guard let colon = left.utf8.lastIndex(of: UInt8(ascii: ":")) else {
      return (String(left), TypedText(type: nil, text: text))
    }
    let type = try FieldType(named: String(left[left.utf8.index(after: colon)...]))
    return (String(left[..<colon]), TypedText(type: type, text: text))
  }

  /// - Parameters:
  ///   - name: the name that the value is for.
  ///   - declared: the type to use if none is given.
  /// - Throws: ``StoreError`` for a value that does not fit its type, and for a file that cannot be read.
  func value(of name: String, declared: FieldType? = nil) throws -> PlistValue {
    guard let type else {
      guard let declared else { return .string(text) }
      return try value(of: name, text, declared)
    }
    guard text.hasPrefix("@") else { return try value(of: name, text, type) }
    let path = String(text.dropFirst())
    let file = path == "-" ? InputFile.standardInput : try InputFile(URL(fileURLWithPath: path))
    let bytes = try file.readAll()
    if type == .data { return .data(Data(bytes)) }
    guard let content = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalidText, "the file is not UTF-8 text", file: path, field: name)
    }
    // The line end that editors add after a number is not part of it.
    return try value(of: name, type == .string ? content : content.withoutOuterNewlines, type)
  }

  private func value(of name: String, _ text: String, _ type: FieldType) throws -> PlistValue {
    guard let value = type.value(of: text) else {
      throw StoreError(.invalidText, type.misfit(of: text), field: name)
    }
    return value
  }
}

extension String {
  /// The text without line ends at its start and its end.
  fileprivate var withoutOuterNewlines: String {
    let start = drop(while: \.isNewline)
    return String(start.lastIndex { !$0.isNewline }.map { start[...$0] } ?? "")
  }
}

extension FieldType {
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// - Throws: `ValidationError` with the existing types.
  init(named name: String) throws {
    guard let type = FieldType(rawValue: name) else {
      let nearest = NearestName(to: name, among: Self.allCases.map(\.rawValue)).name
      let guess = nearest.map { "; did you mean '\($0)'?" } ?? "."
      throw ValidationError("There is no type '\(name)'\(guess) The types are \(Self.names).")
    }
    self = type
  }
}

/// `NAME=VALUE`, which sets the value of `$NAME` in a condition.
struct NamedArgument {
  let name: String
  let value: TypedText

  init(argument: String) throws {
    guard let (name, value) = try TypedText.parse(argument), !name.isEmpty else {
      throw ValidationError("Expected NAME=VALUE.")
    }
    (self.name, self.value) = (name, value)
  }
}

/// `FIELD=VALUE`, `FIELD:TYPE=VALUE`, `FIELD:TYPE=@FILE` or `FIELD:=EXPRESSION`.
struct FieldAssignment {
  enum Source {
    case text(TypedText)
    case expression(String)
  }

  let field: [FieldName]
  let source: Source

  static let help: ArgumentHelp = """
    FIELD=VALUE gives a value of the type that the table's schema declares, or else a string; FIELD:TYPE=VALUE a value of \
    this type: \(FieldType.names). FIELD:TYPE=@FILE reads the \
    value from a file, and @- from standard input; data is read as raw bytes. A.B is the value B in the dictionary A; \\. \
    is a dot in a name. A date has whole seconds; a fraction is cut off. FIELD:=EXPRESSION calculates the value: \
    'n:=n + 1', 'due:=today + 7d', 'done:=NOT done'; 'filedb help show' explains expressions.
    """

  init(argument: String) throws {
    if let (name, expression) = Self.split(argument) {
      field = try FieldReference.writable(name)
      source = .expression(expression)
      return
    }
    guard let (name, value) = try TypedText.parse(argument) else {
      throw ValidationError("Expected FIELD=VALUE.")
    }
    field = try FieldReference.writable(name)
    source = .text(value)
  }

  /// `NAME:=EXPRESSION`; `nil` for anything else.
  private static func split(_ argument: String) -> (name: String, expression: String)? {
    let bytes = argument.utf8
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > bytes.startIndex else { return nil }
    let colon = bytes.index(before: equals)
    guard bytes[colon] == UInt8(ascii: ":") else { return nil }
    return (String(argument[..<colon]), String(argument[bytes.index(after: equals)...]))
  }
}

extension FieldReference {
  /// - Returns: the path of a field that can be changed.
  /// - Throws: `ValidationError` for the id, and for a text that is not a field.
  fileprivate static func writable(_ text: String) throws -> [FieldName] {
    if let bracket = elementBracket(in: text) {
      throw ValidationError(
        "'\(text)' is an element of an array, which cannot be changed by itself; give the whole array as json. For a "
          + "field of this name, write '\(text[..<bracket])\\\(text[bracket...])'.")
    }
    switch FieldReference(text) {
    case .path(let names)?: return names
    case .id?:
      throw ValidationError(
        "'id' is the record's id, which cannot be changed. For a field called 'id', write 'fields.id'.")
    case nil: throw ValidationError("'\(text)' names no field.")
    }
  }
}

extension FieldReference {
  /// Where `[0]` begins at the end of `text`. In a condition, this is an element of an array.
  private static func elementBracket(in text: String) -> String.Index? {
    let bytes = text.utf8
    guard bytes.last == UInt8(ascii: "]"), let start = bytes.lastIndex(of: UInt8(ascii: "[")),
      start > bytes.startIndex,
      bytes[bytes.index(before: start)] != UInt8(ascii: "\\")
    else { return nil }
    let element = bytes[bytes.index(after: start)...].dropLast()
    let isNumber =
      !element.isEmpty && element.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber || ["FIRST", "LAST"].contains(String(element)?.uppercased()) ? start : nil
  }
}

/// A field to remove.
struct RemovedField {
  let path: [FieldName]

  init(argument: String) throws {
    // Another program may have written a field without a name.
    path = argument.isEmpty ? [FieldName(argument)] : try FieldReference.writable(argument)
  }
}

extension Terminal {
  /// Notes which of the fields to set are not declared although others are. They are probably mistyped.
  static func note(undeclared assignments: [FieldAssignment], in schema: TableSchema?, of table: String) {
    guard let schema, !schema.fields.isEmpty else { return }
    // A search for one name takes as long as the schema is long.
    for name in assignments.lazy.map({ $0.field[0].text }).filter({ schema[$0] == nil }).prefix(10) {
      guard let nearest = NearestName(to: name, among: schema.fields.map(\.name)).name else { continue }
      note("the schema of '\(table)' has no field '\(name)'; did you mean '\(nearest)'?")
    }
  }
}

extension Terminal {
  /// Notes which values are stored as text although the table has numbers, dates or Booleans in their fields. It looks
  /// at the first and the last record, because a large table should not be read for that.
  static func note(untyped assignments: [FieldAssignment], in snapshot: TableSnapshot<Fields>) {
    let schema = snapshot.knownSchema
    let records = [snapshot.first, snapshot.last].compactMap(\.self)
    for assignment in assignments where assignment.field.count == 1 && schema?[assignment.name]?.type == nil {
      guard case .text(let given) = assignment.source, given.type == nil else { continue }
      for record in records {
        guard let type = record.fields[assignment.name].map(FieldType.init(of:)), type != .string,
          type.value(of: given.text) != nil
        else { continue }
        let name = FieldReference.path(assignment.field).title
        note(
          "'\(name)' is stored as text, although record \(record.id) has \(type.noun) there; to store one, "
            + "write \(name):\(type)=\(given.text)")
        break
      }
    }
  }
}

extension Terminal {
  /// Notes which values look like files to read. Only after a type does `@` mean a file, because a text may begin with it.
  static func note(unreadFiles assignments: [FieldAssignment]) {
    for assignment in assignments {
      guard case .text(let given) = assignment.source, given.type == nil, given.text.hasPrefix("@"),
        given.text == "@-" || FileManager.default.fileExists(atPath: String(given.text.dropFirst()))
      else { continue }
      let name = FieldReference.path(assignment.field).title
      note(
        "'\(name)' is the text '\(given.text)'; to store what is there, write \(name):string=\(given.text) or "
          + "\(name):data=\(given.text)")
    }
  }
}

extension FieldAssignment {
  fileprivate var name: String { field[0].text }
}

/// What to set, with its values read.
struct FieldChanges {
  private enum New {
    case value(PlistValue)
    case nothing
    /// The result of an expression for the record as it was; a real if the field is declared as one.
    case result(RecordExpression, declared: FieldType?)
  }

  private var changes: [(path: [FieldName], new: New)] = []

  /// - Parameters:
  ///   - schema: the table's schema, which declares the types of values that are given without one.
  ///   - arguments: the values for `$name` in expressions.
  init(
    _ assignments: [FieldAssignment], for schema: TableSchema?, arguments: [String: PlistValue] = [:]
  ) throws {
    var (paths, beginnings) = (Set<[FieldName]>(), Set<[FieldName]>())
    for assignment in assignments {
      let (path, name) = (assignment.field, FieldReference.path(assignment.field).title)
      let ownBeginnings = path.indices.map { Array(path[...$0]) }
      if beginnings.contains(path) || ownBeginnings.contains(where: paths.contains) {
        throw ValidationError("The field '\(name)' is given twice.")
      }
      paths.insert(path)
      beginnings.formUnion(ownBeginnings)
      let declared = assignment.field.count == 1 ? schema?[assignment.field[0].text]?.type : nil
      changes.append((assignment.field, try Self.new(assignment.source, of: name, declared, arguments)))
    }
  }

  private static func new(
    _ source: FieldAssignment.Source, of name: String, _ declared: FieldType?,
    _ arguments: [String: PlistValue]
  ) throws -> New {
    switch source {
    case .text(let text): .value(try text.value(of: name, declared: declared))
    case .expression(let text): .result(try RecordExpression(text, arguments: arguments), declared: declared)
    }
  }

  init(removing fields: [RemovedField]) { changes = fields.map { ($0.path, .nothing) } }

  /// The names of the arguments that its expressions use.
  var usedArguments: Set<String> {
    changes.reduce(into: []) { names, change in
      if case .result(let expression, _) = change.new { names.formUnion(expression.usedArguments) }
    }
  }

  /// A record with exactly these fields.
  /// - Throws: `ValidationError` for an expression that uses a field.
  func newRecord() throws -> Fields {
    for case .result(let expression, _) in changes.map({ $0.new }) {
      guard let field = expression.fields.first else { continue }
      throw ValidationError("A new record has no field '\(field)' yet to calculate with.")
    }
    var fields = Fields()
    try apply(to: &fields, of: AnyRecordID(counted: 0))
    return fields
  }

  /// Each expression sees the fields as they were before.
  private func apply(to fields: inout Fields, of id: AnyRecordID) throws(StoreError) {
    let old = fields
    fields.dictionary.set(
      changes.compactMap { path, new in
        guard case .value(let value) = new, path.count == 1 else { return nil }
        return PlistDictionary.Entry(key: path[0].text, value: value)
      })
    for (path, new) in changes {
      switch new {
      case .value where path.count == 1: break
      case .value(let value): try fields.set(value, at: path)
      case .nothing: try fields.set(nil, at: path)
      case .result(let expression, let declared):
        let value: PlistValue
        do throws(StoreError) { value = try expression.value(of: old, id: id) } catch {
          throw error.code == .invalidValue
            ? StoreError(error.code, error.message, field: FieldReference.path(path).title) : error
        }
        let isReal = declared == .float
        try fields.set(isReal ? FieldType.float.value(of: value) ?? value : value, at: path)
      }
    }
  }

  /// Changes records.
  /// - Returns: how many of them were different before.
  func apply(
    to ids: [RecordID<Fields>], in table: TableName<Fields>, _ tx: inout StoreTransaction
  ) throws -> Int {
    let records = try tx[table]
    var count = 0
    for id in ids {
      let isChanged = try records.change(id) { fields in
        do throws(StoreError) { try apply(to: &fields, of: id.plain) } catch {
          throw error.adding(table: table.text).adding(record: id.plain)
        }
      }
      if isChanged { count += 1 }
    }
    return count
  }
}

extension SortKey {
  /// Reads `KEY` and `-KEY`, separated by commas. Before a word `--`, a text that begins like an option is a mistyped
  /// option.
  static func parse(_ words: [String], text order: TextOrder) throws -> [SortKey] {
    let options = words.prefix { $0 != "--" }
    if let option = options.first(where: { $0.hasPrefix("--") }) {
      throw ValidationError("Unknown option '\(option)'.")
    }
    let keys = (options + words.dropFirst(options.count + 1)).flatMap { $0.parts(between: ",") }
      .filter { !$0.isEmpty }
    guard !keys.isEmpty else { throw ValidationError("Name a field to sort by.") }
    return try keys.map { key in
      let isReverse = key.hasPrefix("-")
      let reference = try FieldReference(named: isReverse ? String(key.dropFirst()) : key)
      return SortKey(reference, order: isReverse ? .reverse : .forward, text: order)
    }
  }
}

extension FieldReference {
  /// - Throws: `ValidationError`.
  init(named text: String) throws {
    guard let reference = FieldReference(text) else { throw ValidationError("'\(text)' names no field.") }
    self = reference
  }

  /// Reads fields separated by commas; `nil` if there is no list.
  /// - Throws: `ValidationError`.
  static func list(_ text: String?) throws -> [FieldReference]? { try text.map(someFields) }

  /// - Throws: `ValidationError`.
  static func someFields(_ text: String) throws -> [FieldReference] {
    try text.parts(between: ",").filter { !$0.isEmpty }.map { try FieldReference(named: $0) }
  }
}

extension FieldReference: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }
}
