import FileDBPlist

/// A user's table over an attached one, with the place of each record.
///
/// The user's file contains only the differences, so that the attached table beneath it can be replaced by its next
/// version. A record with the id of an attached one overrides some of its fields, moves it, or deletes it (see
/// ``OverlayMetadata``). All other records are the user's own. Their ids are above those of all attached records.
struct Overlay {
  /// Ids up to this one belong to the attached store. The user's own records have higher ids.
  static let highestAttachedID: Int64 = 1_000_000_000

  let attached: OrderedRecords

  static func isOwn(_ id: AnyRecordID) -> Bool { id.rawValue > highestAttachedID }

  /// The place of a record. Attached records that stay in their places have even ranks. Records that follow one of them
  /// have the odd rank after it.
  struct Rank: Comparable, Hashable {
    static let top = Rank(number: -1)
    static let bottom = Rank(number: .max)

    let number: Int

    static func attached(index: Int) -> Rank { Rank(number: 2 * index) }
    static func behind(index: Int) -> Rank { Rank(number: 2 * index + 1) }

    var isPlaced: Bool { number & 1 != 0 }
    /// The rank of records that are put after this one.
    var next: Rank { Rank(number: number | 1) }
    /// The index of the attached record that this rank is at or after; -1 for the top.
    var index: Int { (number - (isPlaced ? 1 : 0)) / 2 }

    static func < (left: Rank, right: Rank) -> Bool { left.number < right.number }
  }

  /// - Parameter metadata: that of the user's record with this id, if there is one.
  func rank(of id: AnyRecordID, _ metadata: OverlayMetadata?) -> Rank {
    switch metadata?.position {
    case .top: return .top
    case .bottom: return .bottom
    // The record may be missing in a later version of the attached table.
    case .after(let id): return attached.index(of: id).map(Rank.behind) ?? .bottom
    case nil: return attached.index(of: id).map(Rank.attached) ?? .bottom
    }
  }

  func position(_ rank: Rank) -> OverlayMetadata.Position {
    switch rank {
    case .top: .top
    case .bottom: .bottom
    default: .after(attached[rank.index].id)
    }
  }

  /// The attached record with this id.
  func base(of id: AnyRecordID) -> EncodedRecord? { attached.index(of: id).map { attached[$0] } }

  /// What readers see for a record of the user's file; `nil` if it hides an attached record, or belongs to an attached
  /// record that is gone.
  func visible(_ record: EncodedRecord, _ metadata: OverlayMetadata) -> EncodedRecord? {
    if metadata.isDeleted { return nil }
    guard let base = base(of: record.id) else {
      guard Overlay.isOwn(record.id) || metadata.overrides != nil else { return nil }
      return metadata.isEmpty ? record : record.with(OverlayMetadata.remove)
    }
    guard let overrides = metadata.overrides else { return base }
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
  /// The user's table laid over an attached one, as the one table that readers see.
  /// - Complexity: O(*k* log *k*), where *k* is the number of records in the user's file, with a search for each of
  ///   them; O(*n*) if there are many.
  /// - Parameter schema: the schema of the attached table.
  /// - Throws: ``StoreError/Code/duplicateID`` if a record of the user's own has an id of the attached store.
  init(
    _ own: TableState, over attached: OrderedRecords, declaring schema: PlistValue?
  ) throws(StoreError) {
    let overlay = Overlay(attached: attached)
    var records = attached
    var gone: [(index: Int, id: AnyRecordID)] = []
    var placed: [(rank: Overlay.Rank, record: EncodedRecord)] = []
    for record in own.records {
      let metadata = OverlayMetadata(of: record)
      guard Overlay.isOwn(record.id) || !metadata.isEmpty else { throw .attachedID(of: record) }
      let index = attached.index(of: record.id)
      let visible = overlay.visible(record, metadata)
      if let index, let visible, metadata.position == nil {
        records.replace(index: index, with: visible)
        continue
      }
      if let index { gone.append((index, record.id)) }
      if let visible { placed.append((overlay.rank(of: record.id, metadata), visible)) }
    }
    records.remove(Set(gone.map(\.id)))
    records.put(placed, without: gone.map(\.index))
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

extension OrderedRecords {
  /// Puts records of the user among the attached records that stay.
  /// - Parameter gone: the former indices of the attached records that do not stay.
  fileprivate mutating func put(
    _ placed: [(rank: Overlay.Rank, record: EncodedRecord)], without gone: [Int]
  ) {
    let gone = gone.sorted()
    var passed = 0
    var runs: [(index: Int, records: [EncodedRecord])] = []
    // Records with the same rank keep the order that they have in the file.
    for (rank, entries) in Dictionary(grouping: placed, by: \.rank).sorted(by: { $0.key < $1.key }) {
      while passed < gone.count, rank != .bottom, gone[passed] <= rank.index { passed += 1 }
      runs.append((rank == .bottom ? count : rank.index + 1 - passed, entries.map(\.record)))
    }
    // If there are few, insert them. All other records stay shared with the attached table.
    guard placed.count > count / 8 else {
      for run in runs.reversed() { insert(run.records, at: run.index) }
      return
    }
    var all: [EncodedRecord] = []
    all.reserveCapacity(count + placed.count)
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
