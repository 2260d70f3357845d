import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// What another client has written into FileDB's tables in PostgreSQL.
@Suite(
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresAnswerTests {
  private static let table = "(SELECT id FROM filedb.tables WHERE name = 't' AND store = STORE)"

  /// Each with the error of whoever reads what it has changed.
  private static let changes: [(change: String, code: StoreError.Code)] = [
    ("UPDATE filedb.records SET body = 'text' WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.records SET body = body || body WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.records SET body = '' WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.records SET id = -id WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.records SET id = id + 10 WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.chunk_ids SET ids = ids || ids WHERE tab = \(table)", .damagedTable),
    ("UPDATE filedb.tables SET counter = -1 WHERE id = \(table)", .damagedTable),
    ("UPDATE filedb.tables SET count = -1 WHERE id = \(table)", .damagedTable),
    ("UPDATE filedb.tables SET schema = 'text' WHERE id = \(table)", .damagedTable),
    ("UPDATE filedb.commits SET payload = 'text' WHERE store = STORE AND sequence = 2", .damagedJournal),
    ("DELETE FROM filedb.commits WHERE store = STORE AND sequence = 2", .damagedJournal),
    ("UPDATE filedb.stores SET head = 2 WHERE id = STORE", .damagedJournal),
    ("UPDATE filedb.stores SET head = 0 WHERE id = STORE", .damagedJournal),
    ("UPDATE filedb.stores SET head = 9 WHERE id = STORE", .damagedJournal),
    ("UPDATE filedb.stores SET head = -5 WHERE id = STORE", .damagedJournal),
    ("UPDATE filedb.stores SET start = 9 WHERE id = STORE", .damagedJournal),
  ]

  /// In a database of its own, because other tests look at all tables of theirs.
  @Test func whatIsNotOfFileDBIsAnError() throws {
    let database = "v\(UUID().uuidString.filter(\.isHexDigit).lowercased())"
    try runStatement("CREATE DATABASE \(database)")
    let server = try #require(PostgresServer.current)
    let info = server.info.replacing("dbname=postgres", with: "dbname=\(database)")
    for (change, code) in Self.changes { try check(change, code, info) }
  }

  private func check(_ change: String, _ code: StoreError.Code, _ info: String) throws {
    let name = UUID().uuidString
    let log = PostgresLog(info, store: name, timeout: longestWait)
    try log.create()
    let user = LogUser(log)
    _ = try user.append("t") { _ in [.create] }
    for id in 1...2 { _ = try user.append("t") { _ in [.insert([record(Int64(id))], index: 0)] } }
    try PostgresConnection(info, timeout: longestWait).run(
      change.replacing("STORE", with: "(SELECT id FROM filedb.stores WHERE name = '\(name)')"),
      within: longestWait)
    let reader = PostgresLog(info, store: name, timeout: longestWait)
    let rows = PagedRows(reader, TableKey("t"), patience: .zero)
    let reads: [() throws -> Void] = [
      { _ = try reader.commits(after: 0) }, { _ = try reader.news(after: FollowedCommit(sequence: 0)) },
      { _ = try reader.base(of: TableKey("t"), unless: nil) }, { _ = try reader.bases { _, _ in } },
      { _ = try reader.tables() }, { _ = try reader.status() }, { _ = try rows.table() },
    ]
    let errors = reads.compactMap { storeError($0)?.code }
    #expect(errors.contains(code), "\(change): \(errors)")
    if change.contains("body") {
      #expect(storeError { _ = try rows.page(0..<2) }?.code == .damagedTable)
      #expect(storeError { _ = try rows.record(with: AnyRecordID(rawValue: 1)!) }?.code == .damagedTable)
    }
  }
}
