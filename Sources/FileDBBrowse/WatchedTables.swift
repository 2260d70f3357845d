import FileDB
import FileDBEssentials
import Synchronization

/// A table at one moment. The version distinguishes moments.
struct WatchedTable: Sendable {
  let snapshot: TableSnapshot<Fields>
  let version: String
}

/// The tables of a store. Each has a version that changes when the table does.
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
    /// The table that a page asked for last.
    var wanted: String?
  }

  private let store: RecordStore
  private let largeSize: Int64
  /// The tables that existed at the start and have not been read yet.
  private let unread: Mutex<Unread>
  private let entries = Mutex<[String: Entry]>([:])
  /// Otherwise, a page that connects to the next start of the server could take an old version for the new one.
  private let start = UInt32.random(in: 0 ... .max)

  /// - Parameter size: a file of at least this many bytes takes long to read.
  init(_ store: RecordStore, largeFrom size: Int64) {
    (self.store, largeSize) = (store, size)
    unread = Mutex(Unread(names: Set((try? store.tableNames) ?? [])))
  }

  /// Reads all tables that existed at the start. A table that a page waits for comes first.
  /// - Parameter tell: called after each large table.
  func readAll(_ tell: () -> Void) {
    while let name = unread.withLock({ $0.wanted ?? $0.names.min() }) {
      let isLarge = sizeOfUnread(name) != nil
      _ = try? store.table(name)  // The next request for it gets the error, too.
      unread.withLock { unread in
        unread.names.remove(name)
        if unread.wanted == name { unread.wanted = nil }
      }
      if isLarge { tell() }
    }
  }

  /// The file size of a large table that has not been read yet.
  func sizeOfUnread(_ name: String) -> Int64? {
    guard unread.withLock({ $0.names.contains(name) }),
      let attributes = try? FileManager.default.attributesOfItem(atPath: store.url(of: name).path),
      let size = attributes[.size] as? UInt64, size >= largeSize
    else { return nil }
    return Int64(size)
  }

  /// Makes a table be read before the others.
  func want(_ name: String) {
    unread.withLock { unread in if unread.names.contains(name) { unread.wanted = name } }
  }

  /// The tables that a page has looked at.
  var seen: [(name: String, table: WatchedTable)] {
    entries.withLock { $0.keys.sorted() }.compactMap { name in (try? self[name]).map { (name, $0) } }
  }

  /// The last state of a table that a page has seen, even if the table is broken now.
  func lastSeen(_ name: String) -> TableSnapshot<Fields>? {
    entries.withLock { $0[name] }?.state.withLock { $0?.snapshot }
  }

  /// The newest state of a table.
  /// - Throws: as `RecordStore.table(_:)`; ``StoreError/Code/tableNotFound``; ``RequestError/beingRead`` for a large
  ///   table that has not been read yet.
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

  /// The tables whose records refer to records of this table, directly or through others. Includes this table if it
  /// refers to itself.
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

  /// Comparing a large table that was sorted takes seconds. Some records are enough to notice that.
  static func areSame(_ left: TableSnapshot<Fields>, _ right: TableSnapshot<Fields>) -> Bool {
    guard left.count == right.count else { return false }
    let some = stride(from: 0, to: left.count, by: max(1, left.count / 64))
    return some.allSatisfy { left[$0] == right[$0] } && left == right
  }
}
