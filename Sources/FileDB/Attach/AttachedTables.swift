import FileDBEssentials
import FileDBTables
import Synchronization

/// The tables of a store over an attached one. Each is laid over the attached table of the same name, if there is one.
final class AttachedTables: TableView {
  /// A table of the store, the attached table beneath it, and the view of both.
  private struct View {
    let own: TableState
    let beneath: TableState
    let seen: TableState
  }

  let attached: AttachedStore
  /// The newest two views of each table: readers may be one commit behind the writers.
  private let views = Mutex<[TableKey: [View]]>([:])
  /// For tables without an attached table of their name: whether they lay over one when the user wrote them, and the
  /// table state for which this was found.
  private let overlays = Mutex<[TableKey: (own: TableState, isOverlay: Bool)]>([:])

  init(over attached: AttachedStore) { self.attached = attached }

  func tables(_ own: Set<TableKey>) throws(StoreError) -> Set<TableKey> {
    own.union(try attached.store.tableKeys)
  }

  /// Reads the attached table of this name, or the one beneath the table of this name.
  func read(_ table: TableKey) throws(StoreError) {
    _ = try attached.read(attached.table(named: table) ?? table)
  }

  func refresh() throws -> Bool {
    try attached.store.refresh()
    return true
  }

  /// - Throws: ``StoreError/Code/duplicateID`` for a record that must not have its id.
  func seen(_ table: TableKey, own: TableState) throws(StoreError) -> TableState {
    if let name = attached.table(named: table) {
      guard !own.exists else { throw .hidden(table, by: attached) }
      return attached.table(name) ?? TableState()
    }
    guard let beneath = attached.table(table), beneath.exists || isOverlay(table, own) else { return own }
    if let seen = views.withLock({ views in
      views[table]?.last { $0.own.isIdentical(to: own) && $0.beneath.isIdentical(to: beneath) }?.seen
    }) {
      return seen
    }
    do {
      let seen = try TableState(own, over: beneath.records, declaring: beneath.schemaValue)
      keep(View(own: own, beneath: beneath, seen: seen), of: table)
      return seen
    } catch {
      throw error.adding(table: table.text)
    }
  }

  func lastSeen(_ table: TableKey, own: TableState) -> TableState {
    // What another program wrote into the user's file cannot be shown. Reading the table again reports the reason.
    (try? seen(table, own: own)) ?? views.withLock { $0[table]?.last?.seen } ?? TableState()
  }

  /// - Throws: ``StoreError/Code/readOnly`` for a change of the attached store; ``StoreError/Code/duplicateID`` for a
  ///   new record whose id a later version of that store may use.
  func permit(_ change: Change, to table: TableKey, seen: TableState, own: TableState?) throws(StoreError) {
    if attached.table(named: table) != nil { throw .readOnly("the table is the attached store's", table) }
    guard let beneath = seen.beneath else { return }
    switch change {
    case .declare:
      throw .readOnly("the table has the schema of the attached one", table)
    case .drop:
      throw .readOnly("the table is an attached one beneath the user's, which cannot be dropped", table)
    case .insert(let records, _):
      for record in records where !Overlay.isOwn(record.id) && !beneath.contains(record.id) {
        // The user's changes to a record stay even if it is no longer shipped. They may be deleted and come back.
        guard own?.records.contains(record.id) == true else {
          throw StoreError.attachedID(of: record).adding(table: table.text)
        }
      }
    default: break
    }
  }

  func ownEdit(
    of table: TableKey, own: TableState, from before: TableState, to after: TableState,
    moving ids: Set<AnyRecordID>
  ) throws(StoreError) -> ChangeRecorder? {
    guard let beneath = before.beneath else { return nil }
    return try OverlayEdit(of: own, over: beneath, from: before, to: after, moving: ids).recorded
  }

  func remember(_ seen: TableState, of table: TableKey, own: TableState) {
    // A newer version may have been read in the meantime.
    guard let beneath = attached.table(table), seen.beneath?.isIdentical(to: beneath.records) == true else {
      return
    }
    keep(View(own: own, beneath: beneath, seen: seen), of: table)
  }

  /// Whether the table lay over a table that is no longer shipped.
  /// - Complexity: O(*n*) the first time, then as ``RecordsDifference/init(from:to:moving:)``.
  private func isOverlay(_ table: TableKey, _ own: TableState) -> Bool {
    guard own.exists else { return false }
    return overlays.withLock { overlays in
      let isOverlay =
        if let known = overlays[table], !known.isOverlay {
          RecordsDifference(from: known.own.records, to: own.records).newRecords.contains(
            where: \.hasOverlayMetadata)
        } else {
          own.records.contains(where: \.hasOverlayMetadata)
        }
      overlays[table] = (own, isOverlay)
      return isOverlay
    }
  }

  private func keep(_ view: View, of table: TableKey) {
    views.withLock { $0[table] = ($0[table] ?? []).suffix(1) + [view] }
  }

  func url(of table: TableKey) throws -> URL? {
    guard let table = attached.table(named: table) else { return nil }
    return try attached.store.url(of: table.text)
  }

  var folders: [StoreFolder] { [attached.folder] }

  func sources(of table: TableKey) -> [(table: TableKey, folder: StoreFolder)] {
    [(attached.table(named: table) ?? table, attached.folder)]
  }

  func reopened() throws(StoreError) -> any TableView {
    AttachedTables(over: try AttachedStore(attached.store.reopened(), as: attached.name))
  }
}

extension EncodedRecord {
  fileprivate var hasOverlayMetadata: Bool { !OverlayMetadata(of: self).isEmpty }
}

extension StoreError {
  fileprivate static func readOnly(_ message: String, _ key: TableKey) -> StoreError {
    StoreError(.readOnly, message, table: key.text)
  }

  fileprivate static func hidden(_ key: TableKey, by attached: AttachedStore) -> StoreError {
    StoreError(
      .ambiguousTable,
      "the store has a table of this name, but the name belongs to the store attached as '\(attached.name)'",
      table: key.text)
  }
}
