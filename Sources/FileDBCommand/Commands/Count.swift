import ArgumentParser
import FileDB

struct Count: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print the number of records, and sums and averages of their fields.",
    discussion: """
      With --group, there is a line for each value of a field, or for each combination of values of several fields, in \
      the order of their first records. Records without the field have a line of their own. Equal numbers are counted \
      together, whatever their types.

      --sum and --average add up numbers, exactly. Other values, even text that consists of digits, are \
      left out, and filedb says so. --minimum and --maximum compare values as 'filedb sort' does. Each takes several \
      fields, a,b, and a column is called sum(a).

      With --where, only records that match are counted; if none does, the exit code is 1. 'filedb help show' explains \
      predicates.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table's name, or the path of its file.") var table: TableReference
  @OptionGroup var matching: WhereOption
  @OptionGroup var questions: SummaryQuestions
  @OptionGroup var output: FormatOption

  func run() throws {
    let table = try existingTable(table)
    let snapshot = try table.snapshot()
    let matches = try matching.matches(in: snapshot)
    Terminal.noteUnknown(questions.fields, in: snapshot)
    let records = matches?.asGroup ?? snapshot.asGroup
    if questions.isEmpty, output.format == .table {
      Terminal.print(records.count.description)
    } else {
      try print(records)
    }
    if matching.isGiven, records.count == 0 { throw StoreError.noMatch(in: table.name) }
  }

  private func print(_ records: RecordGroup<Fields, Void>) throws {
    let printer = SummaryPrinter(
      output: output, titles: questions.titles, keyCount: questions.groups.count)
    if questions.groups.isEmpty {
      try printer.print(alone: questions.row(of: records, key: []))
      try questions.noteOthers(in: [records])
    } else {
      let groups = try records.grouped(by: questions.groups)
      try printer.print(groups.map { try questions.row(of: $0, key: $0.key) })
      try questions.noteOthers(in: groups)
    }
  }
}

/// What to calculate from the fields of records.
struct SummaryQuestions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Count the records for each value of these fields.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var group: [FieldReference]?
  @Option(
    help: ArgumentHelp("Add up the numbers in these fields.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var sum: [FieldReference]?
  @Option(
    name: [.long, .customLong("avg")],
    help: ArgumentHelp("Print the average of the numbers in these fields.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var average: [FieldReference]?
  @Option(
    name: [.long, .customLong("min")],
    help: ArgumentHelp("Print the least values of these fields.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var minimum: [FieldReference]?
  @Option(
    name: [.long, .customLong("max")],
    help: ArgumentHelp("Print the greatest values of these fields.", valueName: "a,b"),
    transform: FieldReference.someFields)
  var maximum: [FieldReference]?

  var groups: [FieldReference] { group ?? [] }

  private var numbers: [FieldReference] { (sum ?? []) + (average ?? []) }
  var fields: [FieldReference] {
    (groups + numbers + (minimum ?? []) + (maximum ?? [])).reduce(into: []) { all, field in
      if !all.contains(field) { all.append(field) }
    }
  }

  var isEmpty: Bool { fields.isEmpty }

  var titles: [String] {
    func titles(_ verb: String, _ fields: [FieldReference]?) -> [String] {
      (fields ?? []).map { "\(verb)(\($0.title))" }
    }
    return groups.map(\.title) + ["records"] + titles("sum", sum) + titles("average", average)
      + titles("minimum", minimum) + titles("maximum", maximum)
  }

  func row<Key>(of records: RecordGroup<Fields, Key>, key: [PlistValue?]) throws -> [PlistValue?] {
    let count = PlistValue.integer(Int64(records.count))
    let sums = try (sum ?? []).map { field in
      do throws(StoreError) { return try records.summary(of: field).sum() } catch {
        throw StoreError(error.code, error.message, field: field.title)
      }
    }
    let averages = try (average ?? []).map { try records.summary(of: $0).average.map(PlistValue.real) }
    let least = try (minimum ?? []).map { try records.summary(of: $0).minimum }
    let greatest = try (maximum ?? []).map { try records.summary(of: $0).maximum }
    return key + [count] + sums + averages + least + greatest
  }

  /// Notes which fields to sum have values that are not numbers.
  func noteOthers(in groups: [some AggregatedRecords<Fields>]) throws {
    for field in fields where numbers.contains(field) {
      let others = try groups.reduce(0) { others, group in
        let summary = try group.summary(of: field)
        return others + summary.count - summary.numberCount
      }
      guard others > 0 else { continue }
      Terminal.note(
        "\(others.counted("record")) with something other than a number in '\(field.title)' left out")
    }
  }
}
