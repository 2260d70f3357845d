import FileDB
import FileDBCluster
import FileDBTables
import Foundation
import Synchronization
import TestSupport

/// Uses a log as a store does, but without a store.
struct LogUser: Sendable {
  let log: any CommitLog

  init(_ log: any CommitLog) { self.log = log }

  /// A replica follows its log only on request.
  func catchUp() throws {
    if let replica = log as? ReplicaLog { _ = try replica.catchUp(timeout: longestWait) }
  }

  func commits(after sequence: UInt64) throws -> [LoggedCommit] {
    guard case .commits(let commits) = try log.commits(after: sequence) else { throw Forgotten() }
    return commits
  }

  /// A table with all commits.
  func newest(_ table: TableKey) throws -> TableVersion {
    try catchUpUnlessInside()
    guard var version = try log.base(of: table, unless: nil) else { throw Forgotten() }
    for commit in try commits(after: version.through) {
      for change in commit.changes(of: table) { try version.state.apply(change) }
      version.through = commit.sequence
    }
    return version
  }

  /// A commit that adds a record to the table `t`. It is not in the log yet.
  func commit(_ text: String) throws -> NewCommit {
    let version = try newest("t")
    var now = version.state
    let applied = try now.applyRecording(.insert([record(now.counter + 1, text)], index: 0))
    return NewCommit(
      changes: [LoggedChange(applied, of: "t")], position: version.through, tables: ["t": version.lineage],
      states: ["t": now])
  }

  private func catchUpUnlessInside() throws { if !Self.isInside { try catchUp() } }

  @TaskLocal private static var isInside = false

  /// Appends a commit that changes one table, and waits for it.
  func append(
    _ table: TableKey, _ changes: (TableState) throws -> [Change]
  ) throws -> LoggedCommit? {
    var taken: LoggedCommit?
    let ticket = try Self.$isInside.withValue(true) {
      try log.append(timeout: longestWait) {
        let version = try newest(table)
        var now = version.state
        let applied = try changes(version.state).map { LoggedChange(try now.applyRecording($0), of: table) }
        return NewCommit(
          changes: applied, position: version.through, tables: [table: version.lineage],
          hasListedTables: true,
          states: [table: now])
      } beforeOthersSee: {
        taken = $0
      }
    }
    try ticket?.wait()
    return taken
  }
}

struct Forgotten: Error {}

/// Collects the errors of several threads.
final class Failures: Sendable {
  private let errors = Mutex<[any Error]>([])

  var all: [any Error] { errors.withLock(\.self) }

  func note(_ body: () throws -> Void) {
    do { try body() } catch { errors.withLock { $0.append(error) } }
  }
}

func id(_ number: Int64) -> AnyRecordID { AnyRecordID(rawValue: number)! }

func record(_ number: Int64, _ text: String = "") -> EncodedRecord {
  EncodedRecord(id: id(number), fields: ["text": .string(text)])
}

extension TableKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
