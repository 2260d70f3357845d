/// Finds the records of a table by what they have in some fields. It knows hashes alone, so each record that it finds
/// must be looked at. Records that lack one of the fields are left out.
package struct RecordLookup: Sendable {
  /// A record: what it has, and where it is.
  package struct Entry: Comparable, Sendable {
    package let hash: UInt64
    package let index: UInt32

    package init(hash: UInt64, index: UInt32) { (self.hash, self.index) = (hash, index) }

    package static func < (left: Entry, right: Entry) -> Bool {
      left.hash == right.hash ? left.index < right.index : left.hash < right.hash
    }
  }

  package let names: [String]
  /// In ascending order.
  package let entries: [Entry]

  /// - Parameter entries: in any order.
  package init(by names: [String], _ entries: [Entry]) {
    self.names = names
    self.entries = entries.sorted()
  }

  package init(_ draft: LookupDraft) { self.init(by: draft.names, draft.entries) }

  /// The indices of the records that may have these values, in ascending order.
  /// - Complexity: O(log *n*).
  package func indices(of hash: ValueHash) -> [Int] {
    let start = entries.partitioningIndex { $0.hash >= hash.number }
    return entries[start...].prefix { $0.hash == hash.number }.map { Int($0.index) }
  }
}

/// A ``RecordLookup`` on its way, which takes the records of a table in their order.
package struct LookupDraft: Sendable {
  package let names: [String]
  fileprivate private(set) var entries: [RecordLookup.Entry] = []
  private var count: UInt32 = 0

  package init(by names: [String]) { self.names = names }

  package mutating func add(_ record: EncodedRecord) {
    if let hash = record.hash(of: names) {
      entries.append(RecordLookup.Entry(hash: hash.number, index: count))
    }
    count += 1
  }
}

extension [LookupDraft] {
  package mutating func add(_ record: EncodedRecord) { for number in indices { self[number].add(record) } }
}

extension TableState {
  /// For each list of fields by which records are looked up to keep the rules, a lookup without records.
  package var emptyLookups: [LookupDraft] { (schema.schema?.lookups ?? []).map(LookupDraft.init) }
}

extension TableSchema {
  /// The lists of fields by which records are looked up to keep the rules.
  fileprivate var lookups: [[String]] {
    uniqueGroups + references.map(\.field).filter { !$0.isUnique }.map { [$0.name] }
  }
}
