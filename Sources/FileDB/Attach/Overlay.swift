import FileDBPlist

/// A user's table over one of an attached store: which record is where.
///
/// The user's file holds what differs, so that the attached table may be replaced by its next version under it. A
/// record with the id of an attached one overrides some of its fields, moves it, or deletes it (see ``OverlayMarks``);
/// all others are the user's own, with ids above every attached one.
struct Overlay {
  /// Ids up to this one are the attached store's. Those of the user's own records begin behind it.
  static let highestAttachedID: Int64 = 1_000_000_000

  let attached: OrderedRecords

  static func isOwn(_ id: AnyRecordID) -> Bool { id.rawValue > highestAttachedID }

  /// Where a record is: attached ones that stay in their places have the even numbers, and what stands behind one of
  /// them has the odd number after it.
  struct Rank: Comparable {
    static let top = Rank(number: -1)
    static let bottom = Rank(number: .max)

    let number: Int

    static func attached(index: Int) -> Rank { Rank(number: 2 * index) }
    static func behind(index: Int) -> Rank { Rank(number: 2 * index + 1) }

    var isPlaced: Bool { number & 1 != 0 }
    /// The rank of what is put behind this.
    var next: Rank { Rank(number: number | 1) }
    /// The index of the attached record that this is at or behind; -1 for the top.
    var index: Int { (number - (isPlaced ? 1 : 0)) / 2 }

    static func < (left: Rank, right: Rank) -> Bool { left.number < right.number }
  }

  /// - Parameter marks: those of the user's record with this id, if there is one.
  func rank(of id: AnyRecordID, _ marks: OverlayMarks?) -> Rank {
    switch marks?.place {
    case .top: return .top
    case .bottom: return .bottom
    // A later version of the attached table may have lost the record.
    case .after(let id): return attached.index(of: id).map(Rank.behind) ?? .bottom
    case nil: return attached.index(of: id).map(Rank.attached) ?? .bottom
    }
  }

  func place(_ rank: Rank) -> OverlayMarks.Place {
    switch rank {
    case .top: .top
    case .bottom: .bottom
    default: .after(attached[rank.index].id)
    }
  }

  /// The attached record with this id.
  func base(of id: AnyRecordID) -> EncodedRecord? { attached.index(of: id).map { attached[$0] } }

  /// What readers see of a record of the user's file; `nil` if that hides an attached record, or says something
  /// about one that is gone.
  func visible(_ record: EncodedRecord, _ marks: OverlayMarks) -> EncodedRecord? {
    if marks.isDeleted { return nil }
    guard let base = base(of: record.id) else {
      guard Overlay.isOwn(record.id) || marks.overrides != nil else { return nil }
      return marks.isEmpty ? record : record.with(OverlayMarks.remove)
    }
    guard let overrides = marks.overrides else { return base }
    let own = record.fields
    return base.with { merged in
      for name in overrides { merged[name] = own[name] }
    }
  }
}

extension EncodedRecord {
  /// The record with other fields.
  func with(_ change: (inout PlistDictionary) -> Void) -> EncodedRecord {
    var fields = fields
    change(&fields.dictionary)
    return EncodedRecord(id: id, fields: fields)
  }
}

extension TableState {
  /// The one table that is seen where the user's table lies over an attached one.
  /// - Complexity: O(*k* log *k*), where *k* is the number of records in the user's file, with a search for each
  ///   of them; O(*n*) where they are many.
  /// - Throws: ``StoreError/Code/duplicateID`` for a record of the user's own under an id that is the attached store's.
  init(_ own: TableState, over attached: TableState) throws(StoreError) {
    try self.init(own, over: attached.records, declaring: attached.schemaValue)
  }

  /// - Parameter schema: the attached table's.
  init(
    _ own: TableState, over attached: OrderedRecords, declaring schema: PlistValue?
  ) throws(StoreError) {
    let overlay = Overlay(attached: attached)
    var records = attached
    var gone: [(index: Int, id: AnyRecordID)] = []
    var placed: [(rank: Overlay.Rank, record: EncodedRecord)] = []
    for record in own.records {
      let marks = OverlayMarks(of: record)
      guard Overlay.isOwn(record.id) || !marks.isEmpty else { throw .attachedID(of: record) }
      let index = attached.index(of: record.id)
      let visible = overlay.visible(record, marks)
      if let index, let visible, marks.place == nil {
        records.replace(index: index, with: visible)
        continue
      }
      if let index { gone.append((index, record.id)) }
      if let visible { placed.append((overlay.rank(of: record.id, marks), visible)) }
    }
    records.remove(Set(gone.map(\.id)))
    records.put(PlacedRun.runs(of: placed, without: gone.map(\.index), in: records.count))
    self.init(
      own, over: attached, declaring: schema, records: records,
      counter: max(own.counter, Overlay.highestAttachedID))
  }
}

extension StoreError {
  static func attachedID(of record: EncodedRecord) -> StoreError {
    StoreError(
      .duplicateID,
      "ids up to \(Overlay.highestAttachedID) belong to the attached store, which has no such record",
      record: record.id)
  }
}

/// Records of the user that stand one behind the other among the attached ones that stay.
private struct PlacedRun {
  /// The index of the attached record that they are in front of.
  let index: Int
  var records: [EncodedRecord]

  static func runs(
    of placed: [(rank: Overlay.Rank, record: EncodedRecord)], without gone: [Int], in count: Int
  ) -> [PlacedRun] {
    let gone = gone.sorted()
    var passed = 0
    var runs: [PlacedRun] = []
    // Those of one rank stay in the order in which they are in the file.
    for (rank, entries) in Dictionary(grouping: placed, by: \.rank.number).sorted(by: { $0.key < $1.key }) {
      let rank = Overlay.Rank(number: rank)
      while passed < gone.count, rank != .bottom, gone[passed] <= rank.index { passed += 1 }
      let index = rank == .bottom ? count : rank.index + 1 - passed
      runs.append(PlacedRun(index: index, records: entries.map(\.record)))
    }
    return runs
  }
}

extension OrderedRecords {
  fileprivate mutating func put(_ runs: [PlacedRun]) {
    let count = runs.reduce(0) { $0 + $1.records.count }
    // A few are inserted, so that all others stay shared with the attached table.
    guard count > self.count / 8 else {
      for run in runs.reversed() { insert(run.records, at: run.index) }
      return
    }
    var all: [EncodedRecord] = []
    all.reserveCapacity(self.count + count)
    var (rest, index) = (makeIterator(), 0)
    for run in runs {
      while index < run.index, let next = rest.next() {
        all.append(next)
        index += 1
      }
      all += run.records
    }
    while let next = rest.next() { all.append(next) }
    self = OrderedRecords(all, shape: shape)
  }
}
