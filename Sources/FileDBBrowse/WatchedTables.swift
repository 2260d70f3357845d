import FileDB
import Synchronization

/// A table at one moment. The version tells moments apart.
struct WatchedTable: Sendable {
  let snapshot: TableSnapshot<Fields>
  let version: String
}

/// The tables of a store, with a version that changes when they do.
final class WatchedTables: Sendable {
  private final class Entry: Sendable {
    struct State {
      var snapshot: TableSnapshot<Fields>
      var schema: TableSchema?
      var number = 0
    }
    let state = Mutex<State?>(nil)
  }

  private struct Unread {
    var names: Set<String>
    /// The one that a page asked for last.
    var wanted: String?
  }

  private let store: RecordStore
  private let largeSize: Int64
  /// The tables of the start that were not read yet.
  private let unread: Mutex<Unread>
  private let entries = Mutex<[String: Entry]>([:])
  /// Else a page that connects to the server's next start could take an old version for the new one.
  private let start = UInt32.random(in: 0 ... .max)

  /// - Parameter size: of a file that takes long to read, in bytes.
  init(_ store: RecordStore, largeFrom size: Int64) {
    (self.store, largeSize) = (store, size)
    unread = Mutex(Unread(names: Set((try? store.tableNames) ?? [])))
  }

  /// Reads all tables of the start, first the one that a page waits for.
  /// - Parameter tell: called after each large one.
  func readAll(_ tell: () -> Void) {
    while let name = unread.withLock({ $0.wanted ?? $0.names.min() }) {
      let isLarge = sizeOfUnread(name) != nil
      _ = try? store.table(name)  // Whoever asks for it next gets the error, too.
      unread.withLock { unread in
        unread.names.remove(name)
        if unread.wanted == name { unread.wanted = nil }
      }
      if isLarge { tell() }
    }
  }

  /// The size of the file of a large table that was not read yet.
  func sizeOfUnread(_ name: String) -> Int64? {
    guard unread.withLock({ $0.names.contains(name) }),
      let size = try? FileInfo(at: store.url(of: name)).size, size >= largeSize
    else { return nil }
    return size
  }

  /// Has a table read before the others.
  func want(_ name: String) {
    unread.withLock { unread in if unread.names.contains(name) { unread.wanted = name } }
  }

  /// The tables that somebody has looked at.
  var seen: [(name: String, table: WatchedTable)] {
    entries.withLock { $0.keys.sorted() }.compactMap { name in (try? self[name]).map { (name, $0) } }
  }

  /// What somebody saw of a table before, also of one that is broken now.
  func lastSeen(_ name: String) -> TableSnapshot<Fields>? {
    entries.withLock { $0[name] }?.state.withLock { $0?.snapshot }
  }

  /// The newest state of a table.
  /// - Throws: as `RecordStore.table(_:)`; ``StoreError/Code/tableNotFound``; ``RequestError/beingRead`` for a large
  ///   one that was not read yet.
  subscript(name: String) -> WatchedTable {
    get throws {
      if sizeOfUnread(name) != nil { throw RequestError.beingRead }
      let table = try store.table(name)
      guard try table.exists else {
        throw StoreError(.tableNotFound, "There is no such table.", table: name)
      }
      let entry = entries.withLock { entries in
        let entry = entries[name] ?? Entry()
        entries[name] = entry
        return entry
      }
      return try entry.state.withLock { state in
        let snapshot = try table.snapshot()
        let schema = try? snapshot.schema
        var next = state ?? Entry.State(snapshot: snapshot, schema: schema)
        if !Self.areSame(next.snapshot, snapshot) || next.schema != schema { next.number += 1 }
        (next.snapshot, next.schema) = (snapshot, schema)
        state = next
        return WatchedTable(snapshot: snapshot, version: "\(start)-\(next.number)")
      }
    }
  }

  /// The tables whose records refer to those of a table, directly or by way of others; the table itself, if it does.
  /// - Complexity: O(*t*²) in the number of tables.
  func referring(to name: String) -> [(name: String, snapshot: TableSnapshot<Fields>)] {
    var others = ((try? store.tableNames) ?? []).filter { sizeOfUnread($0) == nil }.compactMap { other in
      (try? store.table(other).snapshot()).map { (name: other, snapshot: $0) }
    }
    var found: [(name: String, snapshot: TableSnapshot<Fields>)] = []
    var targets = [name]
    while let target = targets.popLast() {
      let isReferring = { (_: String, snapshot: TableSnapshot<Fields>) in
        (try? snapshot.schema)?.fields.contains { $0.references?.table == target } == true
      }
      let new = others.filter(isReferring)
      others.removeAll(where: isReferring)
      targets += new.map(\.name)
      found += new
    }
    return found
  }

  /// Comparing all of a large table that was sorted takes seconds. Some records tell it at once.
  static func areSame(_ left: TableSnapshot<Fields>, _ right: TableSnapshot<Fields>) -> Bool {
    guard left.count == right.count else { return false }
    let some = stride(from: 0, to: left.count, by: max(1, left.count / 64))
    return some.allSatisfy { left[$0] == right[$0] } && left == right
  }
}
