import ArgumentParser
import FileDB

/// Which records, in which order, with which fields.
struct SelectionOptions: ParsableArguments {
  @OptionGroup var matching: WhereOption
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort by fields, -FIELD for descending; the table stays as it is.", valueName: "key,-key"))
  var sort: String?
  @Flag(help: "Sort text as a person would: 'item 2' before 'item 10', letters before their case.")
  var localized = false
  @Option(help: ArgumentHelp("These fields only, in this order.", valueName: "a,b"))
  var fields: String?

  /// The fields that were chosen, if any.
  var fieldNames: [String]? { fields.map { $0.split(separator: ",").map(String.init) } }

  /// Without a condition or an order, the table itself: a page of it needs no other records.
  func records(of snapshot: TableSnapshot<Fields>) throws -> AnyRandomAccessCollection<StoredRecord<Fields>> {
    let matches = try matching.matches(in: snapshot)
    snapshot.noteUnknown(fieldNames ?? [])
    guard let sort else {
      return matches.map { AnyRandomAccessCollection($0.records) } ?? AnyRandomAccessCollection(snapshot)
    }
    let keys = try SortKey.parse([sort], text: localized ? .localized : .bytes)
    snapshot.noteUnknown(keys.map(\.field))
    let records = snapshot.sorted(by: keys)
    guard let matches else { return AnyRandomAccessCollection(records) }
    let ids = Set(matches.records.map(\.id))
    return AnyRandomAccessCollection(records.filter { ids.contains($0.id) })
  }
}

extension TableSnapshot<Fields> {
  /// Says which of these fields no record has: most likely they are mistyped. In an empty table nobody can tell.
  /// - Complexity: O(*n*) for one that none has, else up to the first record that has it.
  func noteUnknown(_ fields: [String]) {
    if isEmpty { return }
    for field in fields where !contains(where: { $0[field] != nil }) {
      Terminal.note("no record of '\(table)' has a field '\(field)'")
    }
  }
}
