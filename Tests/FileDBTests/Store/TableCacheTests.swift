import FileDBTables
import Foundation
import Testing

@testable import FileDB

@Suite struct TableCacheTests {
  private let a = TableKey("a")
  private let b = TableKey("b")

  private func state(_ count: Int64) -> TableState {
    TableState(
      counter: count,
      records: (1...max(count, 1)).prefix(Int(count)).map {
        EncodedRecord(id: AnyRecordID(rawValue: $0)!, fields: [:])
      },
      foreignKeys: [:])
  }

  private func table(base: Int, through: UInt64) -> LoadedTable {
    LoadedTable(version: TableVersion(state: state(0), base: base, through: through))
  }

  private func cache(_ tables: [TableKey], base: Int = 1) -> TableCache {
    var cache = TableCache()
    for table in tables {
      _ = cache.put(self.table(base: base, through: 0), of: table, at: 0)
    }
    return cache
  }

  /// A commit that adds the record with its own number.
  private func commit(_ number: UInt64, to tables: [TableKey], base: Int? = 1) -> LoggedCommit {
    let record = EncodedRecord(id: AnyRecordID(rawValue: Int64(number))!, fields: [:])
    return LoggedCommit(
      sequence: number, date: Date(), token: nil,
      changes: tables.map { LoggedChange(.insert([record], index: 0), of: $0, found: .nothing) },
      tables: Dictionary(uniqueKeysWithValues: tables.map { ($0, LoggedCommit.Former(base: base)) }))
  }

  @Test func ownCommitIsSeenByWritersFirstAndByReadersOncePublished() {
    var cache = cache([a])
    cache.add(commit(1, to: [a]), states: [a: state(1)])
    #expect(cache.newest(a)?.version.state.records.count == 1)
    #expect(cache.published[a]?.version.state.records.count == 0)
    #expect(cache.publish(through: 1) == [a])
    #expect(cache.published[a]?.version.state.records.count == 1)
    #expect(cache.publish(through: 1).isEmpty)
  }

  @Test func commitOfAnotherProcessIsFollowedInEveryTable() {
    var cache = cache([a, b])
    #expect(cache.follow([commit(1, to: [a, b]), commit(2, to: [b])]) == [a, b])
    #expect(cache.position == 2)
    #expect(
      cache.published[a]?.version.state.records.count == 1
        && cache.published[b]?.version.state.records.count == 2)
    #expect(cache.setbackCount == 0)
    #expect(cache.follow([commit(2, to: [b])]).isEmpty, "it is in there already")
  }

  @Test(arguments: [nil, 2]) func tableFallsBehindWhereACommitIsForAnotherBase(base: Int?) {
    var cache = cache([a, b])
    _ = cache.follow([commit(1, to: [a], base: base)])
    #expect(cache.published[a]?.isStale == true && cache.published[a]?.isBehind == true)
    #expect(cache.published[b]?.isBehind == false)
    #expect(cache.setbackCount == 1, "who refreshes looks at all tables again")
  }

  @Test func forgottenCommitsLeaveATableBehindUntilItsBaseIsChecked() {
    var cache = cache([a, b])
    _ = cache.follow([commit(1, to: [a])])
    _ = cache.skip(from: 1, to: 5)
    #expect(cache.position == 5)
    #expect(cache.published.values.allSatisfy { $0.isBehind && !$0.isStale })
    cache.advance(b, to: 5)
    #expect(cache.published[b]?.isBehind == false)
  }

  @Test func logThatEndsBeforeWhatWasReadIsAnotherOne() {
    var cache = cache([a, b])
    _ = cache.follow([commit(1, to: [a])])
    #expect(cache.skip(from: 0, to: 0) == nil, "another thread has taken in more since")
    #expect(cache.position == 1)
    _ = cache.skip(from: 1, to: 0)
    #expect(cache.position == 0, "so that the commits of the new one are news")
    #expect(cache.published.values.allSatisfy { $0.isBehind && $0.isStale })
  }

  @Test func tableThatWasReadAtAnotherMomentIsNotTaken() {
    var cache = cache([a])
    _ = cache.follow([commit(1, to: [a])])
    #expect(cache.put(table(base: 1, through: 0), of: b, at: 0) == nil)
    #expect(cache.put(table(base: 1, through: 1), of: b, at: 1) == [b])
  }
}
