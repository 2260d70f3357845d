import FileDBTables

/// The pairs of a join of two tables. Each pair is made when you ask for it.
///
///     let all = try store.snapshot()
///     for (food, group) in try all[.foods].joined(to: all[.groups], on: \.group, \.code) {
///       print(try food.value.name, try group.value.title)
///     }
///
/// The pairs have the order of the left records; the pairs of one left record have the order of the right records. A
/// left record without a matching right record has no pair; ``withUnmatched`` includes it.
public struct JoinedRecords<Left: Codable & Sendable, Right: Codable & Sendable>: Sequence, Sendable {
  fileprivate let left: TableSnapshot<Left>
  fileprivate let right: TableSnapshot<Right>
  /// The left records in order, each with the number of its group.
  fileprivate let members: [GroupedRecords<Left>.Member]
  /// For each group, the indices of the right records.
  fileprivate let partners: [[Int]]

  init(
    _ left: GroupedRecords<Left>, _ right: TableSnapshot<Right>, partners: [[Int]]
  ) {
    (self.left, self.right, self.partners) = (left.snapshot, right, partners)
    members = left.groupMembers
  }

  public func makeIterator() -> Iterator { Iterator(unmatched: UnmatchedRecords(of: self).makeIterator()) }

  /// The same pairs, and also each left record without a match, with `nil` on the right: a left join.
  /// - Complexity: O(1).
  public var withUnmatched: UnmatchedRecords<Left, Right> { UnmatchedRecords(of: self) }

  public struct Iterator: IteratorProtocol {
    fileprivate var unmatched: UnmatchedRecords<Left, Right>.Iterator

    public mutating func next() -> (left: StoredRecord<Left>, right: StoredRecord<Right>)? {
      while let (left, right) = unmatched.next() { if let right { return (left, right) } }
      return nil
    }
  }
}

/// The pairs of ``JoinedRecords``, and the left records without a match, with `nil` on the right.
public struct UnmatchedRecords<Left: Codable & Sendable, Right: Codable & Sendable>: Sequence, Sendable {
  private let joined: JoinedRecords<Left, Right>

  fileprivate init(of joined: JoinedRecords<Left, Right>) { self.joined = joined }

  public func makeIterator() -> Iterator { Iterator(joined) }

  public struct Iterator: IteratorProtocol {
    private let joined: JoinedRecords<Left, Right>
    private var records: TableSnapshot<Left>.Iterator
    /// The index of the next record of ``records``.
    private var index = 0
    /// The index of the next one of ``members``.
    private var nextMember = 0
    private var left: StoredRecord<Left>?
    /// The right records of ``left`` that have not been returned yet.
    private var rights: ArraySlice<Int> = []

    fileprivate init(_ joined: JoinedRecords<Left, Right>) {
      self.joined = joined
      records = joined.left.makeIterator()
    }

    public mutating func next() -> (left: StoredRecord<Left>, right: StoredRecord<Right>?)? {
      if let left, let right = rights.popFirst() { return (left, joined.right[right]) }
      guard nextMember < joined.members.count else { return nil }
      let next = joined.members[nextMember]
      nextMember += 1
      records.skip(next.index - index)
      index = next.index + 1
      left = records.next()
      rights = joined.partners[next.group][...]
      guard let left else { return nil }
      return (left, rights.popFirst().map { joined.right[$0] })
    }
  }
}
