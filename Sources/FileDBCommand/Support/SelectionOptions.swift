import ArgumentParser
import FileDB

extension TextOrder {
  /// - Throws: ``StoreError/languageMissing``.
  init(localized: Bool) throws {
    if localized { _ = try Language.required() }
    self = localized ? .localized : .bytes
  }
}

/// Options that choose records, their order and their fields.
struct SelectionOptions: ParsableArguments {
  @OptionGroup var matching: WhereOption
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort the output by fields; -FIELD for descending. The table stays as it is.", valueName: "key,-key"))
  var sort: String?
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', and case only as a last resort.")
  var localized = false
  @Option(help: ArgumentHelp("Only these fields, in this order.", valueName: "a,b"))
  var fields: String?

  /// The chosen fields, if any.
  func chosenFields() throws -> [FieldReference]? { try FieldReference.list(fields) }

  /// If there is neither a condition nor an order, the table itself: then a page of it needs no other records.
  func records(of snapshot: TableSnapshot<Fields>) throws -> AnyRandomAccessCollection<StoredRecord<Fields>> {
    let matches = try matching.matches(in: snapshot)
    Terminal.noteUnknown(try chosenFields() ?? [], in: snapshot)
    guard let sort else {
      return matches.map { AnyRandomAccessCollection($0.records) } ?? AnyRandomAccessCollection(snapshot)
    }
    let keys = try SortKey.parse([sort], text: TextOrder(localized: localized))
    Terminal.noteUnknown(keys.map(\.reference), in: snapshot)
    let records = snapshot.sorted(by: keys)
    guard let matches else { return AnyRandomAccessCollection(records) }
    let ids = Set(matches.records.map(\.id))
    return AnyRandomAccessCollection(records.filter { ids.contains($0.id) })
  }
}
