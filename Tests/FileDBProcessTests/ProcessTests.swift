import FileDB
import Foundation
import TestSupport
import Testing

/// Real processes on one store. `Tests/kill` and `Tests/powercut` run the same program for longer.
@Suite struct ProcessTests {
  @Test func killedWritersLoseNothingAndBlockNobody() throws {
    var random = SeededRandom.fromEnvironment("killedWritersLoseNothingAndBlockNobody")
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store")
      let supervisor = try Worker(
        ["supervise", store.path, "60", "--writers", "3", "--readers", "1", "--seed", "\(random.next())"],
        in: folder)
      let report = try supervisor.end()
      #expect(
        report.contains(/60 kills, .*\n\d+ commits acknowledged, [1-9]\d* reads checked\n0 faults/),
        "\(report)")
      print(report)
      try RecordStore(at: store).checkInvariants()
    }
  }

  @Test func processesAddingAtOnceLoseNothing() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      let workers = try ["a", "b"].map { try Worker(["add", url.path, $0, "100"], in: folder) }
      for worker in workers { _ = try worker.end() }
      let store = try RecordStore(at: url)
      let records = try store.table("first").lastSnapshot
      #expect(records.ids == (Int64(1)...200).map { RecordID<Fields>(rawValue: $0) })
      for writer in ["a", "b"] {
        let own = records.filter { $0.fields["writer"]?.string == writer }
        #expect(own.map { $0.fields["key"]?.integer } == Array(1...100))
      }
      try store.checkInvariants()
    }
  }

  @Test func tableFileIsUpToDateOnceAProgramEnds() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      for count in 1...3 {
        _ = try Worker(["leave", url.path], in: folder).end()
        let file = try Data(contentsOf: url.appendingPathComponent("first.plist"))
        let plist = try PropertyListSerialization.propertyList(from: file, format: nil) as? [String: Any]
        #expect((plist?["data"] as? [Any])?.count == count)
      }
      try RecordStore(at: url).checkInvariants()
    }
  }

  @Test func killedProcessReleasesItsLock() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      let worker = try Worker(["hold", url.path], in: folder)
      try worker.says("holding\n")
      let impatient = try RecordStore(at: url, options: StoreOptions(lockTimeout: .milliseconds(50)))
      #expect(
        storeError { try impatient.table("first").add(["by": "the impatient"]) }?.code == .locked)
      worker.kill()
      try Data("half".utf8).write(to: url.appendingPathComponent(".first.plist.1a2b.filedb-draft"))

      let patient = try RecordStore(at: url, options: StoreOptions(lockTimeout: longestWait))
      try patient.table("first").add(["by": "the next one"])
      #expect(try patient.table("first").lastSnapshot.map(\.fields) == [["by": "the next one"]])
      try patient.checkNothingIsLeftBehind()
    }
  }

  @Test func forkedProcessDoesNotShareItsParentsLock() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("store")
      _ = try Worker(["fork", url.path], in: folder).end()
      let store = try RecordStore(at: url)
      #expect(try store.table("first").lastSnapshot.map { $0.fields["sequence"]?.integer } == [1, 2])
      try store.checkInvariants()
    }
  }
}
