import Foundation
import FuzzSupport

// Testable, so that a log can be asked again as if nobody had asked before.
@testable import FileDB
@testable import FileDBCluster
@testable import FileDBTables

// An input is the rows of the answers to each request, one after another; see `FakePostgres.rows`.
@main enum FuzzPostgres {
  static func main() { runFuzzer(test) }
}

private let server = FakePostgres()
private let log = PostgresLog(
  "host=127.0.0.1 port=\(server.start()) dbname=a user=a sslmode=disable gssencmode=disable", store: "s",
  timeout: .seconds(5))

private func test(_ bytes: [UInt8]) -> Bool {
  // Connects, if it is not connected yet.
  do { _ = try log.identity() } catch { fail("\(error)") }
  log.seen.withLock { $0 = nil }
  server.begin(bytes)
  var choices = Choices(bytes)
  switch choices.next(below: 8) {
  case 0: asked { _ = try log.status() }
  case 1: asked { _ = (try log.tables(), try log.droppedTables(), try log.pagedTables()) }
  case 2: asked { _ = try log.outcome(of: .random()) }
  case 3:
    let known = TableVersion(state: TableState(), lineage: 1, through: 0)
    asked { _ = try log.base(of: TableKey("t"), unless: known).map { check($0.state) } }
  case 4: asked { _ = try log.bases { check($1) } }
  case 5: asked { if case .commits(let commits) = try log.commits(after: 2) { check(commits) } }
  case 6:
    asked {
      if case .commits(let commits) = try log.news(after: FollowedCommit(sequence: 2)) { check(commits) }
    }
  default: asked(readPages)
  }
  server.begin([])
  return true
}

/// An answer means something, or is refused with an error of the store.
private func asked(_ body: () throws -> Void) {
  do { try body() } catch is StoreError {} catch { fail("\(error)") }
}

private func readPages() throws {
  let rows = PagedRows(log, TableKey("t"), patience: .zero)
  _ = try rows.table()
  _ = try rows.page(0..<2).map(\.fields)
  let id = AnyRecordID(rawValue: 1)!
  _ = try rows.record(with: id).fields
  _ = try rows.index(of: id)
  _ = try rows.present([id])
}

/// A table that can be written, and is read alike.
private func check(_ state: TableState) {
  let ids = state.records.ids
  if Set(ids).count != ids.count || state.counter < 0 { fail("ids \(ids), counter \(state.counter)") }
  guard state.exists else { return }
  let bytes = TableFile.encode(state)
  let again: TableState
  do {
    again = try TableFile.decode(bytes, file: "t.plist", table: "t", limits: PlistLimits())
  } catch { fail("\(error) in: \(String(decoding: bytes, as: UTF8.self))") }
  if !again.records.elementsEqual(state.records) {
    fail("read again: \(String(decoding: bytes, as: UTF8.self))")
  }
}

/// No commit is missing, or comes twice.
private func check(_ commits: [LoggedCommit]) {
  let isWhole = zip(3..., commits).allSatisfy { $1.sequence == $0 }
  if !isWhole { fail("commits \(commits.map(\.sequence))") }
}
