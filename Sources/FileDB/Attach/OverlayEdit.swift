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
    // After an upgrade, a mark may say what the attached store says, too. Nobody sees a difference without it.
    let markedIDs = movedIDs.filter { !Overlay.isOwn($0) && own.records.contains($0) }
    if difference.isEmpty, markedIDs.isEmpty, max(own.counter, Overlay.highestAttachedID) == after.counter {
      return
    }
    if !own.exists { try recorded.apply(.create) }
    try remove(difference.removed.map(\.record.id))
    let newIndices = Set(difference.inserted.map(\.newIndex) + difference.moved.map(\.newIndex))
    for update in difference.updated where !newIndices.contains(update.newIndex) {
      try self.update(update.new)
    }
    try place(newIndices.sorted())
    for index in markedIDs.compactMap({ seen.index(of: $0) }) where !newIndices.contains(index) {
      try removeNeedlessPlace(at: index)
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
    var marks = OverlayMarks()
    marks.isDeleted = true
    for id in ids where !Overlay.isOwn(id) { try put(EncodedRecord(id: id, marks: marks)) }
  }

  private mutating func update(_ record: EncodedRecord) throws(StoreError) {
    try put(record, at: marks(of: record.id)?.place)
  }

  /// Puts new and moved records into their present places.
  /// - Parameter indices: their indices, ascending.
  private mutating func place(_ indices: [Int]) throws(StoreError) {
    let neighbours = followingNeighbours(of: indices)
    var former: (index: Int, rank: Overlay.Rank)?
    for (index, next) in zip(indices, neighbours) {
      let record = seen[index]
      let previous =
        former?.index == index - 1 ? former?.rank : index > 0 ? rank(of: seen[index - 1].id) : nil
      let rank = rank(of: record.id, between: previous, and: next?.rank)
      former = (index, rank)
      guard rank.isPlaced else {
        try put(record, at: nil)
        continue
      }
      if rank == previous, let behind = own.records.index(of: seen[index - 1].id) {
        try put(record, at: overlay.place(rank), index: behind + 1)
      } else if rank == next?.rank, let before = next.flatMap({ own.records.index(of: $0.id) }) {
        try put(record, at: overlay.place(rank), index: before)
      } else {
        try put(record, at: overlay.place(rank))
      }
    }
  }

  /// Removes the mark of a record's place if the record is at that place without it, too.
  private mutating func removeNeedlessPlace(at index: Int) throws(StoreError) {
    let record = seen[index]
    let previous = index > 0 ? rank(of: seen[index - 1].id) : nil
    let next = index + 1 < seen.count ? rank(of: seen[index + 1].id) : nil
    let isBack = !rank(of: record.id, between: previous, and: next).isPlaced
    try put(record, at: isBack ? nil : marks(of: record.id)?.place)
  }

  /// For the record at each of these indices: the first record after it that keeps its place.
  private func followingNeighbours(of indices: [Int]) -> [(id: AnyRecordID, rank: Overlay.Rank)?] {
    var neighbours: [(id: AnyRecordID, rank: Overlay.Rank)?] = []
    var later: Int?
    for index in indices.reversed() {
      if later == index + 1 {
        neighbours.append(neighbours[neighbours.count - 1])
      } else {
        neighbours.append(index + 1 < seen.count ? (seen[index + 1].id, rank(of: seen[index + 1].id)) : nil)
      }
      later = index
    }
    return neighbours.reversed()
  }

  /// The rank of a record that keeps its place.
  private func rank(of id: AnyRecordID) -> Overlay.Rank { overlay.rank(of: id, marks(of: id)) }

  /// The rank of a record that moves to a place. An attached record that returns to its own place needs no mark.
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

  private func marks(of id: AnyRecordID) -> OverlayMarks? {
    own.records.index(of: id).map { OverlayMarks(of: own.records[$0]) }
  }

  /// Writes into the user's file what it must say about a record.
  private mutating func put(
    _ record: EncodedRecord, at place: OverlayMarks.Place?, index: Int? = nil
  ) throws(StoreError) {
    guard record.fields(OverlayMarks.keys).isEmpty else { throw .overlayField(in: record) }
    var marks = OverlayMarks()
    marks.place = Overlay.isOwn(record.id) && place == .bottom ? nil : place
    if !Overlay.isOwn(record.id) { marks.overrides = overrides(of: record) }
    let isOnlyMoved = !Overlay.isOwn(record.id) && marks.overrides == nil
    if marks.isEmpty, Overlay.isOwn(record.id) {
      try put(record, index: index)
    } else if !marks.isEmpty {
      let marked =
        isOnlyMoved ? EncodedRecord(id: record.id, marks: marks) : record.with { marks.add(to: &$0) }
      try put(marked, index: index)
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
      record: record.id, field: record.fields(OverlayMarks.keys).first?.key)
  }
}
