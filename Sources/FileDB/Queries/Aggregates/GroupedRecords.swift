import FileDBTables
import Synchronization

/// Records of a table, each with the number of its group.
final class GroupedRecords<Value: Codable & Sendable>: Sendable {
  /// The records of a chunk that take part.
  struct Chunk: Sendable {
    /// Their indices in the chunk; `nil` for all records.
    var indices: [Int]?
    /// The group number of each; `nil` if there is only one group.
    var groups: [Int]?
  }

  let snapshot: TableSnapshot<Value>
  /// `nil` if all records of all chunks take part, in one group.
  private let chunks: [Chunk]?
  /// The number of records in each group.
  let counts: [Int]
  private let known = Mutex<(summaries: [FieldReference: [FieldSummary]], members: [[Int]]?)>(([:], nil))

  /// All records as one group.
  init(_ snapshot: TableSnapshot<Value>) {
    self.snapshot = snapshot
    chunks = nil
    counts = [snapshot.count]
  }

  init(_ snapshot: TableSnapshot<Value>, _ chunks: [Chunk], counts: [Int]) {
    (self.snapshot, self.chunks, self.counts) = (snapshot, chunks, counts)
  }

  /// The records in `matches` as one group. They must be in the table's order.
  convenience init(_ snapshot: TableSnapshot<Value>, matches: some Sequence<EncodedRecord>) {
    var rest = matches.makeIterator()
    var next = rest.next()
    var count = 0
    let chunks = snapshot.state.records.sections.flatMap(\.chunks).map { chunk in
      var indices: [Int] = []
      // Nothing after the last match is read.
      if next != nil {
        for (index, record) in chunk.records.enumerated() where record.id == next?.id {
          indices.append(index)
          next = rest.next()
        }
      }
      count += indices.count
      return Chunk(indices: indices)
    }
    self.init(snapshot, chunks, counts: [count])
  }

  /// A summary of a field for each group.
  /// - Throws: the errors of migrating a record to its type's newest version.
  func summaries(of reference: FieldReference) throws(StoreError) -> [FieldSummary] {
    if let summaries = known.withLock({ $0.summaries[reference] }) { return summaries }
    let parts = try snapshot.ofChunks(reading: [reference]) { [chunks] number, records, values in
      Self.summaries(of: records, values[0], chunks?[number] ?? Chunk())
    }
    var summaries = [FieldSummary](repeating: FieldSummary(), count: counts.count)
    for part in parts { for (group, summary) in part { summaries[group].add(summary) } }
    known.withLock { $0.summaries[reference] = summaries }
    return summaries
  }

  /// The summaries for a chunk, with the numbers of their groups.
  private static func summaries(
    of records: [EncodedRecord], _ values: ChunkValues, _ chunk: Chunk
  ) -> [(group: Int, summary: FieldSummary)] {
    var summaries: [(group: Int, summary: FieldSummary)] = []
    var places: [Int: Int] = [:]
    var place: Int?
    chunk.forEach(of: records.count) { index, group in
      // Records of the same group often follow one another.
      if place.map({ summaries[$0].group != group }) ?? true { place = places[group] }
      let known = place ?? summaries.count
      if place == nil {
        summaries.append((group, FieldSummary()))
        (places[group], place) = (known, known)
      }
      summaries[known].summary.add(values, index, of: records[index])
    }
    return summaries
  }

  /// The index of a record in the table, and the number of its group.
  struct Member: Sendable {
    let index: Int
    let group: Int
  }

  /// The records that take part, in order.
  var groupMembers: [Member] {
    guard let chunks else { return snapshot.indices.map { Member(index: $0, group: 0) } }
    var members: [Member] = []
    var start = 0
    for (number, chunk) in snapshot.state.records.sections.flatMap(\.chunks).enumerated() {
      chunks[number].forEach(of: chunk.count) { members.append(Member(index: start + $0, group: $1)) }
      start += chunk.count
    }
    return members
  }

  /// The indices of a group's records in the table, in order.
  func indices(of group: Int) -> [Int] {
    known.withLock { known in
      if let members = known.members { return members[group] }
      var members = [[Int]](repeating: [], count: counts.count)
      for member in groupMembers { members[member.group].append(member.index) }
      known.members = members
      return members[group]
    }
  }

  /// The index of each group's first record.
  var firstIndices: [Int] {
    var first = [Int?](repeating: nil, count: counts.count)
    for member in groupMembers where first[member.group] == nil { first[member.group] = member.index }
    return first.compactMap(\.self)
  }
}

extension GroupedRecords.Chunk {
  /// Calls `body` with the index and the group of each record that takes part.
  /// - Parameter count: the number of records in the chunk.
  func forEach(of count: Int, _ body: (_ index: Int, _ group: Int) -> Void) {
    for place in 0..<(indices?.count ?? count) { body(indices?[place] ?? place, groups?[place] ?? 0) }
  }
}

extension GroupedRecords {
  /// Divides these records into groups by their values in some fields. Also returns the values of each group's first
  /// record. The groups are in the order of their first records.
  /// - Parameter group: the only group whose records take part.
  func grouped(
    _ group: Int, by references: [FieldReference]
  ) throws(StoreError) -> (groups: GroupedRecords, keys: [[PlistValue?]]) {
    let parts = try snapshot.ofChunks(reading: references) { [chunks] number, records, values in
      var tree = GroupTree(depth: references.count)
      var part = Chunk(indices: [], groups: [])
      (chunks?[number] ?? Chunk()).forEach(of: records.count) { index, own in
        guard own == group else { return }
        part.indices?.append(index)
        part.groups?.append(tree.number { values[$0].value(index, of: records[index]) })
      }
      return (part: part, keys: tree.keys)
    }
    var tree = GroupTree(depth: references.count)
    var counts: [Int] = []
    var chunks: [Chunk] = []
    for (part, keys) in parts {
      let numbers = keys.map { key in tree.number { key[$0] } }
      while counts.count < tree.keys.count { counts.append(0) }
      var part = part
      part.groups = part.groups?.map { numbers[$0] }
      for number in part.groups ?? [] { counts[number] += 1 }
      chunks.append(part)
    }
    return (GroupedRecords(snapshot, chunks, counts: counts), tree.keys)
  }

  /// The same records with other group numbers.
  /// - Parameter numbers: the new number of each group.
  func renumbered(_ numbers: [Int], count: Int) -> GroupedRecords {
    var counts = [Int](repeating: 0, count: count)
    for (group, number) in numbers.enumerated() { counts[number] += self.counts[group] }
    let chunks = (chunks ?? []).map { chunk in
      Chunk(indices: chunk.indices, groups: chunk.groups?.map { numbers[$0] })
    }
    return GroupedRecords(snapshot, chunks, counts: counts)
  }
}
