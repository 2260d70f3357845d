import FileDBPlist

extension TableUndo {
  /// The changes that undo the write in the present table.
  /// - Returns: nothing if nothing of the write is left.
  /// - Throws: ``StoreError/Code/undoConflict`` if the result of the write was changed since.
  func changes(in table: TableState) throws(StoreError) -> [Change] {
    for record in moved { try record.checkIsUnmoved(in: table) }
    var undoing = ChangeRecorder(of: table)
    if existed, !exists, !table.exists { try undoing.apply(.create) }
    try undoing.remove(added)
    try undoing.raiseCounter(to: counter)  // A truncate or a drop has changed it.
    try undoing.putBack(removed, moved)
    if let order { try undoing.restore(order) }
    try undoing.restore(updated)
    if let schema { try undoing.restore(schema) }
    if !existed, exists, undoing.table.exists {
      if undoing.table.records.count == 0 {
        try undoing.apply(.drop)
      } else if added.isEmpty {
        throw .undoConflict("the table has records by now")
      }
    }
    // A counter alone is none of what a write did.
    let changes = undoing.changes.map(\.change)
    let isLeft = changes.contains { if case .raiseCounter = $0 { false } else { true } }
    return isLeft ? changes : []
  }
}

/// A table while it is being restored.
extension ChangeRecorder {
  /// Removes the records that the write added, if they are still there.
  fileprivate mutating func remove(_ added: [TableUndo.Added]) throws(StoreError) {
    var present: [AnyRecordID] = []
    for former in added {
      guard let now = table.record(former.id) else { continue }
      guard now.checksum == former.checksum else {
        throw .undoConflict("it has been changed since", former.id)
      }
      present.append(former.id)
    }
    if !present.isEmpty { try apply(.remove(present)) }
  }

  /// Restores what the write removed or moved, from top to bottom.
  fileprivate mutating func putBack(_ removed: [TableUndo.Removed], _ moved: [TableUndo.Moved])
    throws(StoreError)
  {
    var moved = moved[...]
    for former in removed {
      while let next = moved.first, next.position.index < former.position.index {
        try move(next)
        moved.removeFirst()
      }
      if let now = table.record(former.record.id) {
        guard now.hasSameBytes(as: former.record) else {
          throw .undoConflict("another record has its id", now.id)
        }
      } else {
        try insert(former.record, at: index(of: former.position))
      }
    }
    for former in moved { try move(former) }
  }

  private mutating func move(_ former: TableUndo.Moved) throws(StoreError) {
    guard let index = table.records.index(of: former.id) else { return }
    let newIndex = self.index(of: former.position)
    // When the record leaves its place, the records below it move up.
    let finalIndex = newIndex > index ? newIndex - 1 : newIndex
    if finalIndex != index { try apply(.move(former.id, index: finalIndex)) }
  }

  /// The index for `position`. If the record above is gone, the former index.
  private func index(of position: TableUndo.FormerPosition) -> Int {
    guard let above = position.above else { return 0 }
    return table.records.index(of: above).map { $0 + 1 } ?? min(position.index, table.records.count)
  }

  /// Restores the order. Records that were added since stay below the same records.
  fileprivate mutating func restore(_ order: TableUndo.Order) throws(StoreError) {
    let now = table.records.ids
    let anchors = Set(order.before).intersection(now)
    let kept = anchors.intersection(order.after)
    let orders = [now, order.before, order.after].map { $0.filter(kept.contains) }
    if orders[0] != orders[1], orders[0] != orders[2] {
      throw .undoConflict("the order has been changed since")
    }
    let restored = order.before.filter(anchors.contains)
    var (following, anchor) = ([AnyRecordID?: [AnyRecordID]](), AnyRecordID?.none)
    for id in now {
      if anchors.contains(id) { anchor = id } else { following[anchor, default: []].append(id) }
    }
    let ids = (following[nil] ?? []) + restored.flatMap { [$0] + (following[$0] ?? []) }
    if ids != now { try apply(.reorder(ids)) }
  }

  /// Restores the former values of the fields that the write changed, and leaves other fields alone.
  fileprivate mutating func restore(_ updated: [TableUndo.Updated]) throws(StoreError) {
    for former in updated {
      guard let now = table.record(former.id) else {
        throw .undoConflict("it has been deleted since", former.id)
      }
      var fields = now.fields.dictionary
      for field in former.fields where fields[field.name] != field.before {
        guard fields[field.name] == field.after else {
          throw .undoConflict("its field '\(field.name)' has been changed since", former.id)
        }
        fields[field.name] = field.before
      }
      let record = EncodedRecord(id: former.id, fields: Fields(fields))
      if !record.hasSameBytes(as: now) { try apply(.replace(record)) }
    }
  }

  fileprivate mutating func restore(_ schema: TableUndo.Schema) throws(StoreError) {
    guard table.exists, table.schemaValue != schema.before else { return }
    guard table.schemaValue == schema.after else {
      throw .undoConflict("the schema has been changed since")
    }
    try apply(.declare(schema.before))
  }
}

extension StoreError {
  static func undoConflict(_ reason: String, _ record: AnyRecordID? = nil) -> StoreError {
    StoreError(.undoConflict, "this cannot be undone: \(reason)", record: record)
  }
}

extension TableUndo.Moved {
  /// Checks that nobody has moved the record since. Records beside it may have come or gone.
  /// - Throws: ``StoreError/Code/undoConflict``.
  fileprivate func checkIsUnmoved(in table: TableState) throws(StoreError) {
    guard let index = table.records.index(of: id) else { return }
    let aboveNow = table.id(at: index - 1)
    // It may also be back where it was before the write.
    if aboveNow == above || table.id(at: index + 1) == below || aboveNow == position.above { return }
    let (first, last) = (above.flatMap(table.records.index), below.flatMap(table.records.index))
    if first ?? -1 > index || last ?? .max < index { throw .undoConflict("it has been moved since", id) }
  }
}
