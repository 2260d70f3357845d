/// Where the records of a table are, by the values of some fields: what a lookup is made from. It takes the records in
/// their order, and leaves out those that lack one of the fields.
package struct LookupDraft: Sendable {
  /// A record: the hash of its values, and its index.
  package struct Entry: Comparable, Sendable {
    package let hash: UInt64
    package let index: UInt32

    package init(hash: UInt64, index: UInt32) { (self.hash, self.index) = (hash, index) }

    package static func < (left: Entry, right: Entry) -> Bool {
      left.hash == right.hash ? left.index < right.index : left.hash < right.hash
    }
  }

  package let names: [String]
  /// In the order of the records.
  package private(set) var entries: [Entry]
  private var count: UInt32 = 0

  package init(by names: [String], _ entries: [Entry] = []) { (self.names, self.entries) = (names, entries) }

  package mutating func add(_ record: EncodedRecord) {
    if let hash = record.hash(of: names) { entries.append(Entry(hash: hash.number, index: count)) }
    count += 1
  }
}

extension [LookupDraft] {
  package mutating func add(_ record: EncodedRecord) { for number in indices { self[number].add(record) } }
}

extension TableState {
  /// An empty draft for each list of fields by which the schema's rules look up records.
  package var emptyLookups: [LookupDraft] { (schema.schema?.lookups ?? []).map { LookupDraft(by: $0) } }
}

extension TableSchema {
  /// The lists of fields by which the schema's rules look up records.
  fileprivate var lookups: [[String]] {
    uniqueGroups + references.map(\.field).filter { !$0.isUnique }.map { [$0.name] }
  }
}
