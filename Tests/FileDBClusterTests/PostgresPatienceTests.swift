import FileDB
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDBCluster

/// How long a client waits for a server that answers late.
@Suite(
  .serialized,
  .enabled(if: PostgresServer.current != nil, "needs the PostgreSQL servers of Tests/Cluster/with-servers"))
struct PostgresPatienceTests {
  private func server() throws -> PostgresServer { try #require(PostgresServer.current) }

  /// Runs `body` with a store each of whose commits the server carries out with `statement` in between.
  private func withStore(
    doing statement: String, timeout: Duration, _ body: (RecordStore) throws -> Void
  ) throws {
    let log = PostgresLog(try server().info, store: UUID().uuidString, timeout: longestWait)
    try log.create()
    let other = try PostgresConnection(server().info, timeout: longestWait)
    let name = "test_\(UInt32.random(in: 0 ... .max))"
    let id = try #require(
      try other.run("SELECT id FROM filedb.stores WHERE name = $1", [.text(log.name)], within: longestWait)
        .first?.number(0))
    try other.runScript(
      """
      CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN \(statement); RETURN NEW; END $$;
      CREATE TRIGGER \(name) BEFORE INSERT ON filedb.commits FOR EACH ROW WHEN (NEW.store = \(id))
        EXECUTE FUNCTION \(name)();
      """, within: longestWait)
    defer {
      // The server does not notice that nobody waits for it any longer.
      try? other.runScript(
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep';
        DROP FUNCTION \(name) CASCADE;
        """, within: longestWait)
    }
    try withTemporaryFolder { folder in
      let store = try RecordStore(
        at: folder, sharedBy: SharedLog(log), following: .whenAsked, options: StoreOptions())
      log.timeout = timeout
      try body(store)
    }
  }

  @Test func commitMayTakeLongerThanTheTimeout() throws {
    let work = "WHILE clock_timestamp() < now() + interval '1.5 s' LOOP END LOOP"
    try withStore(doing: work, timeout: .milliseconds(300)) { store in
      try store.table("t").add(["title": "one"])
      try store.table("t").add(["title": "two"])
      #expect(try store.table("t").count == 2)
      try store.checkInvariants()
    }
  }

  /// It does not work, and may wait for ever.
  @Test func serverThatWaitsIsNotWaitedFor() throws {
    try withStore(doing: "PERFORM pg_sleep(1000)", timeout: .milliseconds(300)) { store in
      let error = storeError { try store.table("t").add(["title": "one"]) }
      #expect(error?.code == .outcomeUnknown, "\(String(describing: error))")
    }
  }

  /// PostgreSQL ends the connection if a message is too long, and then nobody knows what became of the commit.
  @Test func sizeOfACommitIsNotUnderestimated() throws {
    var random = SeededRandom.fromEnvironment("sizeOfACommitIsNotUnderestimated")
    for _ in 0..<200 {
      var changes: [LoggedChange] = []
      for _ in 0..<Int.random(in: 1...50, using: &random) {
        let name = String(
          repeating: ["\"", "\\", "a", "é"].randomElement(using: &random)!,
          count: .random(in: 1...90, using: &random))
        let ids = (0..<Int.random(in: 1...20, using: &random)).map { _ in
          AnyRecordID(counted: .random(in: 1 ... .max, using: &random))
        }
        let change: Change =
          switch Int.random(in: 0..<5, using: &random) {
          case 0: .remove(ids)
          case 1: .move(ids[0], index: .random(in: 0 ... .max, using: &random))
          case 2: .reorder(ids)
          case 3: .raiseCounter(to: .random(in: 1 ... .max, using: &random))
          default: .removeAll
          }
        changes.append(LoggedChange(AppliedChange(change, found: .nothing), of: TableKey(name)))
      }
      let rows = RowChanges(NewCommit(changes: changes, position: 0, tables: [:], states: [:]))
      let size = rows.values.reduce(rows.payload.count) { $0 + ($1.encoded?.count ?? 0) }
      #expect(size <= rows.byteCount, "seed \(random.seed)")
    }
  }
}
