import FileDB
import FileDBStorage
import Foundation

/// A store is not what it should be.
package struct BrokenInvariant: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

extension RecordStore {
  /// What the store's folder lies on.
  package var disk: any Disk { get throws { try folder.disk.disk } }

  /// Throws ``BrokenInvariant`` unless everything that is always true of a store is true of this one: each file is a
  /// sound table, the journal is sound, a fresh reader sees what this store shows, and every id leads to its row.
  package func checkInvariants() throws {
    let fresh = try reopened()
    let journal = try checkJournal()
    try require(journal?.severity != .damage, "\(String(describing: journal))")
    for name in try tableNames {
      let findings = try check(name)
      try require(findings.isEmpty, "\(name): \(findings)")
      try compare(table(name).lastSnapshot, with: fresh.table(name).lastSnapshot)
    }
  }

  /// Throws ``BrokenInvariant`` unless only tables are left once a checkpoint is made.
  package func checkNothingIsLeftBehind() throws {
    do { try checkpoint() } catch StoreError.Code.closed { return }
    let folder = try folder
    guard try disk.status(folder.ownFolder) != nil else { return }
    let drafts = try disk.list(folder.path).filter {
      // An editor keeps its drafts under names with a tilde.
      $0.hasPrefix(".") && $0 != ".filedb" && !$0.hasSuffix("~")
    }
    try require(drafts.isEmpty, "left behind: \(drafts)")
    let own = try disk.list(folder.ownFolder).filter {
      $0.hasPrefix(".") && $0 != ".gitignore" || $0.hasPrefix("records-")
    }
    try require(own.isEmpty, "left behind: \(own)")
    try checkInvariants()
  }

  private func compare(_ live: TableSnapshot<Fields>, with read: TableSnapshot<Fields>) throws {
    try require(
      live.counter == read.counter, "\(live.table): counter \(live.counter), on the disk \(read.counter)")
    try require((try? live.schema) == (try? read.schema), "\(live.table): another schema on the disk")
    try require(live.ids == read.ids, "\(live.table): ids \(live.ids), on the disk \(read.ids)")
    for (row, (mine, theirs)) in zip(live, read).enumerated() {
      try require(
        mine.fields == theirs.fields,
        "\(live.table), row \(row): \(mine.fields), on the disk \(theirs.fields)")
      try require(live.index(of: mine.id) == row, "\(live.table): id \(mine.id) does not lead to row \(row)")
      try require(mine.id.rawValue <= live.counter, "\(live.table): id \(mine.id) above the counter")
    }
  }

  private func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw BrokenInvariant(description: message()) }
  }
}

/// Where a test's store lives.
package enum StorePlace: String, CaseIterable, Sendable {
  case memory, disk
  /// On the disk, with its own folder among the user's state.
  case outside
}

/// Runs `body` on a new store, and checks the store's invariants when it is done.
package func withStore<Result>(
  _ place: StorePlace = .memory, options: StoreOptions = StoreOptions(),
  _ body: (RecordStore) throws -> Result
) throws -> Result {
  func run(_ store: RecordStore) throws -> Result {
    let result = try body(store)
    try store.refresh()
    try store.checkInvariants()
    try store.checkNothingIsLeftBehind()
    return result
  }
  switch place {
  case .memory: return try run(.inMemory(options: options))
  case .disk: return try withTemporaryFolder { try run(RecordStore(at: $0, options: options)) }
  case .outside:
    return try withTemporaryFolder { folder in
      var options = options
      options.ownFolder = .inUserState
      options.stateFolder = folder.appendingPathComponent("state").path
      return try run(RecordStore(at: folder.appendingPathComponent("store"), options: options))
    }
  }
}

/// Runs `body` on a new store on the disk, and checks the store's invariants when it is done.
package func withTemporaryStore(
  isolation: isolated (any Actor)? = #isolation, _ body: (RecordStore) async throws -> Void
) async throws {
  let folder = try makeTemporaryFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  let store = try RecordStore(at: folder)
  try await body(store)
  try await store.refresh()
  try store.checkInvariants()
  try store.checkNothingIsLeftBehind()
}
