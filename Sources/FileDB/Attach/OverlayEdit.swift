/// The changes that a transaction made to the table that it saw, translated into changes of the user's table.
struct OverlayEdit {
  private let overlay: Overlay
  /// The table as the transaction left it.
  private let seen: OrderedRecords
  private(set) var recorded: ChangeRecorder

  /// - Parameter movedIDs: the records that the transaction moved.
  /// - Throws: ``StoreError/Code/reservedField``.
  init(
    of own: TableState, over attached: OrderedRecords, from before: TableState, to after: TableState,
    moving movedIDs: Set<AnyRecordID>
  ) throws(StoreError) {
    overlay = Overlay(attached: attached)
    seen = after.records
    recorded = ChangeRecorder(of: own)
    let difference = RecordsDifference(from: before.records, to: after.records, moving: movedIDs)
    // After an upgrade, a record may still name a position that the attached store gives it, too. Nobody sees a
    // difference without it.
    let positionedIDs = movedIDs.filter { !Overlay.isOwn($0) && own.records.contains($0) }
    if difference.isEmpty, positionedIDs.isEmpty, max(own.counter, Overlay.highestAttachedID) == after.counter
    {
      return
    }
    if !own.exists { try recorded.apply(.create) }
    try remove(difference.removed.map(\.record.id))
    let newIndices = Set(difference.inserted.map(\.newIndex) + difference.moved.map(\.newIndex))
    for update in difference.updated where !newIndices.contains(update.newIndex) {
      try put(update.new, at: metadata(of: update.new.id)?.position)
    }
    try place(newIndices.sorted())
    for index in positionedIDs.compactMap({ seen.index(of: $0) }) where !newIndices.contains(index) {
      try removeNeedlessPosition(at: index)
    }
    // If this transaction added a record and deleted it again, nobody else may get its id.
    if after.counter > Overlay.highestAttachedID { try recorded.raiseCounter(to: after.counter) }
  }

  /// The user's table with the changes so far.
  private var own: TableState { recorded.table }

  /// Removes records: deletes the user's own, and hides attached ones.
  private mutating func remove(_ ids: [AnyRecordID]) throws(StoreError) {
    let own = ids.filter(Overlay.isOwn)
    if !own.isEmpty { try recorded.apply(.remove(own)) }
    var metadata = OverlayMetadata()
    metadata.isDeleted = true
    for id in ids where !Overlay.isOwn(id) { try put(EncodedRecord(id: id, metadata: metadata)) }
  }

  /// Puts new and moved records into their present places.
  /// - Parameter indices: their indices, ascending.
  private mutating func place(_ indices: [Int]) throws(StoreError) {
    for run in RangeSet(indices, within: seen).ranges {
      // The records around them keep their places.
      let next = run.upperBound < seen.count ? seen[run.upperBound].id : nil
      let nextRank = next.map { rank(of: $0) }
      var previous = run.lowerBound > 0 ? rank(of: seen[run.lowerBound - 1].id) : nil
      for index in run {
        let record = seen[index]
        let rank = rank(of: record.id, between: previous, and: nextRank)
        var place: Int?
        if rank == previous { place = own.records.index(of: seen[index - 1].id).map { $0 + 1 } }
        if place == nil, let next, rank == nextRank { place = own.records.index(of: next) }
        try put(record, at: rank.isPlaced ? overlay.position(rank) : nil, index: place)
        previous = rank
      }
    }
  }

  /// Removes a record's position if the record is at the same place without it, too.
  private mutating func removeNeedlessPosition(at index: Int) throws(StoreError) {
    let record = seen[index]
    let previous = index > 0 ? rank(of: seen[index - 1].id) : nil
    let next = index + 1 < seen.count ? rank(of: seen[index + 1].id) : nil
    let isBack = !rank(of: record.id, between: previous, and: next).isPlaced
    try put(record, at: isBack ? nil : metadata(of: record.id)?.position)
  }

  /// The rank of a record that keeps its place.
  private func rank(of id: AnyRecordID) -> Overlay.Rank { overlay.rank(of: id, metadata(of: id)) }

  /// The rank of a record that moves to a place. An attached record that returns to its own place needs no position.
  private func rank(
    of id: AnyRecordID, between previous: Overlay.Rank?, and next: Overlay.Rank?
  ) -> Overlay.Rank {
    let (previous, next) = (previous ?? .top, next ?? .bottom)
    if let index = overlay.attached.index(of: id) {
      let rank = Overlay.Rank.attached(index: index)
      if previous < rank, rank < next { return rank }
    }
    return next == .bottom ? .bottom : previous.next
  }

  private func metadata(of id: AnyRecordID) -> OverlayMetadata? {
    own.records.index(of: id).map { OverlayMetadata(of: own.records[$0]) }
  }

  /// Writes into the user's file what it must say about a record.
  private mutating func put(
    _ record: EncodedRecord, at position: OverlayMetadata.Position?, index: Int? = nil
  ) throws(StoreError) {
    guard record.fields(OverlayMetadata.keys).isEmpty else { throw .overlayField(in: record) }
    var metadata = OverlayMetadata()
    metadata.position = Overlay.isOwn(record.id) && position == .bottom ? nil : position
    if !Overlay.isOwn(record.id) { metadata.overrides = overrides(of: record) }
    let isOnlyMoved = !Overlay.isOwn(record.id) && metadata.overrides == nil
    if metadata.isEmpty, Overlay.isOwn(record.id) {
      try put(record, index: index)
    } else if !metadata.isEmpty {
      let described =
        isOnlyMoved ? EncodedRecord(id: record.id, metadata: metadata) : record.with { metadata.add(to: &$0) }
      try put(described, index: index)
    } else if own.records.contains(record.id) {
      try recorded.apply(.remove([record.id]))
    }
  }

  /// The fields that differ from the attached record; all fields if there is no such record.
  private func overrides(of record: EncodedRecord) -> [String]? {
    guard let base = overlay.base(of: record.id) else { return record.fields.dictionary.map(\.key) }
    let (old, new) = (base.fields.dictionary, record.fields.dictionary)
    let names =
      old.map(\.key).filter { new[$0] != old[$0] } + new.map(\.key).filter { old[$0] == nil }
    return names.isEmpty ? nil : names
  }

  /// - Parameter index: the place among the other records of the file. Without it, a new record goes to the end, and
  ///   one that the file has stays in its place.
  private mutating func put(_ record: EncodedRecord, index: Int? = nil) throws(StoreError) {
    guard let present = own.records.index(of: record.id) else {
      try recorded.insert(record, at: index ?? own.records.count)
      return
    }
    if !own.records[present].hasSameBytes(as: record) { try recorded.apply(.replace(record)) }
    let newIndex = index.map { present < $0 ? $0 - 1 : $0 } ?? present
    if newIndex != present { try recorded.apply(.move(record.id, index: newIndex)) }
  }
}

extension StoreError {
  fileprivate static func overlayField(in record: EncodedRecord) -> StoreError {
    StoreError(
      .reservedField, "FileDB uses this name for changes to attached records",
      record: record.id, field: record.fields(OverlayMetadata.keys).first?.key)
  }
}
