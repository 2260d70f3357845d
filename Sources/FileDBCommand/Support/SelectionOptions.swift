import ArgumentParser
import FileDB

extension TextOrder {
  /// - Throws: ``StoreError/Code/languageMissing``.
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
    help: ArgumentHelp("Only records that contain all of these words.", valueName: "words"))
  var search: String?
  @Option(
    name: .customLong("in"),
    help: ArgumentHelp("Let --search look only into these fields.", valueName: "a,b"))
  var searched: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort the output by fields; -FIELD for descending. The table stays as it is.", valueName: "key,-key"))
  var sort: String?
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', and case only as a last resort.")
  var localized = false
  @Option(
    help: ArgumentHelp(
      "Only these fields, in this order. The id comes first, unless you name it, or give --no-id.",
      valueName: "a,b"))
  var fields: String?

  func validate() throws {
    if searched != nil, search == nil { throw ValidationError("--in needs --search.") }
  }

  /// Whether the options leave out records by what is in them.
  var isCondition: Bool { matching.isGiven || search != nil }

  /// The chosen fields, if any.
  func chosenFields() throws -> [FieldReference]? { try FieldReference.list(fields) }

  /// If there is neither a condition nor an order, the table itself: then a page of it needs no other records.
  func records(of snapshot: TableSnapshot<Fields>) throws -> AnyRandomAccessCollection<StoredRecord<Fields>> {
    let matches = try matches(in: snapshot)
    Terminal.noteUnknown(try chosenFields() ?? [], in: snapshot)
    guard let sort else {
      return matches.map { AnyRandomAccessCollection($0) } ?? AnyRandomAccessCollection(snapshot)
    }
    let keys = try SortKey.parse([sort], text: TextOrder(localized: localized))
    Terminal.noteUnknown(keys.map(\.reference), in: snapshot)
    let records = try snapshot.sorted(by: keys)
    guard let matches else { return AnyRandomAccessCollection(records) }
    return AnyRandomAccessCollection(records.within(matches))
  }

  /// The records that match the conditions; `nil` if there are none.
  private func matches(in snapshot: TableSnapshot<Fields>) throws -> [StoredRecord<Fields>]? {
    let matches = try matching.matches(in: snapshot)?.records
    guard let search else { return matches }
    let names = try FieldReference.list(searched)?.map { field in
      guard case .path(let path) = field, path.count == 1 else {
        throw ValidationError("--in takes whole fields, not '\(field.title)'.")
      }
      return path[0].text
    }
    Terminal.noteUnknown(try FieldReference.list(searched) ?? [], in: snapshot)
    let found = snapshot.search(search, in: names)
    return matches.map { found.within($0) } ?? found
  }
}

extension Sequence<StoredRecord<Fields>> {
  /// These of the records, in the order of this sequence.
  fileprivate func within(_ others: [StoredRecord<Fields>]) -> [StoredRecord<Fields>] {
    let ids = Set(others.map(\.id))
    return filter { ids.contains($0.id) }
  }
}
