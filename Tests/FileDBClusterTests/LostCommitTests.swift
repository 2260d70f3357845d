import FileDB
import FileDBCluster
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

/// A log that does not answer any append.
private final class LosingLog: CommitLog {
  private let log = MemoryLog()
  private let outcome: Result<CommitOutcome, StoreError>
  let appends = Atomic<Int>(0)

  init(_ outcome: Result<CommitOutcome, StoreError>) { self.outcome = outcome }

  func append(
    timeout: Duration, _ transact: () throws -> NewCommit?, beforeOthersSee: (LoggedCommit) -> Void
  ) throws -> (any CommitTicket)? {
    guard try transact() != nil else { return nil }
    appends.add(1, ordering: .relaxed)
    throw StoreError.outcomeUnknown("the cable is cut")
  }

  func outcome(of token: CommitToken) throws(StoreError) -> CommitOutcome { try outcome.get() }
  func commits(after sequence: UInt64) -> LogNews { log.commits(after: sequence) }
  func base(of table: TableKey, unless known: TableVersion?) -> TableVersion? {
    log.base(of: table, unless: known)
  }
  func tables() throws(StoreError) -> Set<TableKey> { try log.tables() }
  func droppedTables() throws(StoreError) -> Set<TableKey> { try log.droppedTables() }
  func makeWatch() -> (any LogWatch)? { nil }
}

/// A log that loses commits.
@Suite struct LostCommitTests {
  private func store(_ log: LosingLog) -> RecordStore {
    RecordStore(at: URL(fileURLWithPath: "/nowhere"), log: log, options: StoreOptions())
  }

  @Test func writeEndsIfTheLogLosesItsCommitEachTime() async throws {
    let log = LosingLog(.success(.absent))
    let table = try await store(log).table("t")
    let error = try #require(storeError { _ = try table.add(["title": "one"]) })
    #expect(error.code == .unreachable && error.message.contains("the cable is cut"))
    #expect(!error.message.contains("not known"))
    #expect((2...20).contains(log.appends.load(ordering: .relaxed)))
    do {
      try await table.add(["title": "two"])
      Issue.record("the write succeeded")
    } catch let error as StoreError {
      #expect(error.code == .unreachable)
    }
  }

  /// Otherwise the program would take the commit for one that failed, and make it twice.
  @Test func outcomeStaysUnknownIfTheLogCannotBeAsked() throws {
    for outcome: Result<CommitOutcome, StoreError> in [
      .success(.unknown), .failure(StoreError(.unreachable, "refused")),
    ] {
      let table = try store(LosingLog(outcome)).table("t")
      #expect(storeError { _ = try table.add(["title": "one"]) }?.code == .outcomeUnknown)
    }
  }
}
