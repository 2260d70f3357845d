import FileDBTables
import Foundation
import Testing

@testable import FileDB

@Suite struct TableVersionsTests {
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

  private func version(through: UInt64) -> TableVersion {
    TableVersion(state: state(0), lineage: 1, through: through)
  }

  private func versions(of tables: [TableKey]) -> TableVersions.State {
    var versions = TableVersions.State()
    for table in tables { _ = versions.put(version(through: 0), of: table) }
    return versions
  }

  /// A commit that adds the record with its own number.
  private func commit(_ number: UInt64, to tables: [TableKey], lineage: Int? = 1) -> LoggedCommit {
    let record = EncodedRecord(id: AnyRecordID(rawValue: Int64(number))!, fields: [:])
    return LoggedCommit(
      sequence: number, date: Date(), token: nil,
      changes: tables.map { LoggedChange(.insert([record], index: 0), of: $0, found: .nothing) },
      tables: Dictionary(uniqueKeysWithValues: tables.map { ($0, lineage) }))
  }

  @Test func ownCommitIsSeenByWritersFirstAndByReadersOncePublished() {
    var versions = versions(of: [a])
    versions.add(commit(1, to: [a]), states: [a: state(1)])
    #expect(versions.newest(a)?.version.state.records.count == 1)
    #expect(versions.published[a]?.version.state.records.count == 0)
    #expect(versions.publish(through: 1) == [a])
    #expect(versions.published[a]?.version.state.records.count == 1)
    #expect(versions.publish(through: 1).isEmpty)
  }

  @Test func commitOfAnotherProcessIsFollowedInEveryTable() {
    var versions = versions(of: [a, b])
    #expect(versions.follow([commit(1, to: [a, b]), commit(2, to: [b])]) == [a, b])
    #expect(versions.position == 2)
    #expect(
      versions.published[a]?.version.state.records.count == 1
        && versions.published[b]?.version.state.records.count == 2)
    #expect(versions.setbackCount == 0)
    #expect(versions.follow([commit(2, to: [b])]).isEmpty, "it is in there already")
  }

  @Test(arguments: [nil, 2]) func tableIsOutdatedWhereACommitIsOfAnotherLineage(lineage: Int?) {
    var versions = versions(of: [a, b])
    _ = versions.follow([commit(1, to: [a], lineage: lineage)])
    #expect(versions.published[a]?.standing == .outdated)
    #expect(versions.published[b]?.standing == .current)
    #expect(versions.setbackCount == 1, "who refreshes looks at all tables again")
  }

  /// Another thread has read another file while the second commit was being appended.
  @Test func ownCommitOfAnotherLineageHidesTheOneBeforeIt() {
    var versions = versions(of: [a])
    versions.add(commit(1, to: [a]), states: [a: state(1)])
    versions.add(commit(2, to: [a], lineage: 2), states: [a: state(2)])
    #expect(versions.outdatedTables(through: 2) == [a])
    #expect(versions.newest(a)?.standing == .outdated)
    _ = versions.publish(through: 2)
    #expect(versions.published[a]?.standing == .outdated, "it was not read again")
  }

  @Test func forgottenCommitsLeaveATableBehindUntilItsBaseIsChecked() {
    var versions = versions(of: [a, b])
    _ = versions.follow([commit(1, to: [a])])
    _ = versions.skip(from: 1, to: 5)
    #expect(versions.position == 5)
    #expect(versions.published.values.allSatisfy { $0.standing == .behind })
    versions.advance(b, to: 5)
    #expect(versions.published[b]?.standing == .current)
  }

  @Test func logThatEndsBeforeWhatWasReadIsAnotherOne() {
    var versions = versions(of: [a, b])
    _ = versions.follow([commit(1, to: [a])])
    #expect(versions.skip(from: 0, to: 0) == nil, "another thread has taken in more since")
    #expect(versions.position == 1)
    _ = versions.skip(from: 1, to: 0)
    #expect(versions.position == 0, "so that the commits of the new one are news")
    #expect(versions.published.values.allSatisfy { $0.standing == .outdated })
  }

  @Test func tableThatWasReadAtAnotherMomentIsNotTaken() {
    var versions = versions(of: [a])
    _ = versions.follow([commit(1, to: [a])])
    #expect(versions.put(version(through: 0), of: b) == nil)
    #expect(versions.put(version(through: 1), of: b) == [b])
  }
}
