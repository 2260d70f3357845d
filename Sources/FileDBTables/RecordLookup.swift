import FileDBEssentials

/// Finds the records of a table by the values of some fields. It contains only hashes, so the caller must check each
/// record that it finds. It leaves out records that lack one of the fields.
package struct RecordLookup: Sendable {
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
  /// Sorted in ascending order.
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

/// A ``RecordLookup`` that is being built. It takes the records of a table in their order.
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
  /// An empty lookup for each list of fields by which the schema's rules look up records.
  package var emptyLookups: [LookupDraft] { (schema.schema?.lookups ?? []).map(LookupDraft.init) }
}

extension TableSchema {
  /// The lists of fields by which the schema's rules look up records.
  fileprivate var lookups: [[String]] {
    uniqueGroups + references.map(\.field).filter { !$0.isUnique }.map { [$0.name] }
  }
}
