import Synchronization

/// The tables as readers see them: those of the store, each laid over the attached one of its name where there is one.
final class VisibleTables: Sendable {
  /// A table of the store, the attached one beneath it, and what is seen of the two.
  private struct View {
    let own: TableState
    let attached: TableState
    let seen: TableState
  }

  let log: CommitLog
  let attached: AttachedStore?
  /// The newest views of each table. Two, since readers may be a commit behind the writers.
  private let views = Mutex<[TableKey: [View]]>([:])
  /// Of the tables that no attached one lies beneath, which ones did when the user wrote them: looked for once, for it takes a
  /// look at each record.
  private let overlays = Mutex<[TableKey: Bool]>([:])

  init(_ log: CommitLog, over attached: AttachedStore?) { (self.log, self.attached) = (log, attached) }

  /// The table as it was last committed and read; without records where it was not read yet.
  subscript(key: TableKey) -> TableState {
    let own = log.published(key)?.state ?? TableState()
    guard attached != nil else { return own }
    // What another program made of the user's file cannot be shown; who reads it anew learns why.
    return (try? view(of: key, own: own)) ?? views.withLock { $0[key]?.last?.seen } ?? TableState()
  }

  /// All tables that were read, as of one moment.
  var all: [TableKey: TableState] {
    let own = log.cache.withLock { $0.published.mapValues(\.state) }
    guard attached != nil else { return own }
    var all: [TableKey: TableState] = [:]
    for (key, state) in own { all[key] = try? view(of: key, own: state) }
    return all
  }

  /// What is seen of a table of the store.
  /// - Throws: ``StoreError/duplicateID`` for a record that has no right to its id.
  func view(of key: TableKey, own: TableState) throws(StoreError) -> TableState {
    guard let attached else { return own }
    if let name = attached.table(named: key) {
      guard !own.exists else { throw .hidden(key, by: attached) }
      return attached.table(name) ?? TableState()
    }
    guard let beneath = attached.table(key), beneath.exists || isOverlay(key, own) else { return own }
    if let seen = views.withLock({ views in
      views[key]?.last { $0.own.isSame(as: own) && $0.attached.isSame(as: beneath) }?.seen
    }) {
      return seen
    }
    do {
      let seen = try TableState(own, over: beneath.records)
      keep(View(own: own, attached: beneath, seen: seen), of: key)
      return seen
    } catch {
      throw error.adding(table: key.text)
    }
  }

  /// Whether the table lay over one that is shipped no more.
  private func isOverlay(_ key: TableKey, _ own: TableState) -> Bool {
    guard own.exists else { return false }
    return overlays.withLock { overlays in
      if let known = overlays[key] { return known }
      let isOverlay = own.records.contains { !OverlayMarks(of: $0).isEmpty }
      overlays[key] = isOverlay
      return isOverlay
    }
  }

  /// - Parameter own: the user's part of the table.
  /// - Throws: ``StoreError/readOnly`` for a change of the attached store; ``StoreError/duplicateID`` for a new record with an
  ///   id that a later version of that may have.
  func checkWritable(
    _ key: TableKey, _ seen: TableState, _ own: TableState?, _ change: Change
  ) throws(StoreError) {
    guard let attached else { return }
    if attached.table(named: key) != nil { throw .readOnly("the table is the attached store's", key) }
    guard let beneath = seen.attached else { return }
    switch change {
    case .drop:
      throw .readOnly("the table is an attached one beneath the user's, which cannot be dropped", key)
    case .insert(let records, _):
      for record in records where !Overlay.isOwn(record.id) && !beneath.contains(record.id) {
        // What the user changed stays when it is shipped no more, and may be deleted and come back.
        guard own?.records.contains(record.id) == true else {
          throw StoreError.attachedID(of: record).adding(table: key.text)
        }
      }
    default: break
    }
  }

  /// Remembers what is seen of a table that a transaction changed.
  func note(_ seen: TableState, of key: TableKey, own: TableState) {
    guard let beneath = attached?.table(key) else { return }
    keep(View(own: own, attached: beneath, seen: seen), of: key)
  }

  private func keep(_ view: View, of key: TableKey) {
    views.withLock { $0[key] = ($0[key] ?? []).suffix(1) + [view] }
  }
}

extension StoreError {
  fileprivate static func readOnly(_ message: String, _ key: TableKey) -> StoreError {
    StoreError(StoreError.readOnly, message, table: key.text)
  }

  fileprivate static func hidden(_ key: TableKey, by attached: AttachedStore) -> StoreError {
    StoreError(
      StoreError.ambiguousTable,
      "the store has a table of this name, which means one of the store attached as '\(attached.name)'",
      table: key.text)
  }
}

extension TableState {
  /// Whether this is the same table in the same memory.
  fileprivate func isSame(as other: TableState) -> Bool {
    exists == other.exists && counter == other.counter
      && StorageIdentity(records.sections) == StorageIdentity(other.records.sections)
  }
}
