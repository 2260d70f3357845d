import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct ScratchTests {
  private static let place = URL(fileURLWithPath: "/store")

  @Test(arguments: [false, true], [true, false]) func scratchPowerCutAfterAFaultAndACommit(
    lasting: Bool, checkpoint: Bool
  ) throws {
    for verb in 0... {
      let memory = MemoryDisk()
      let options = StoreOptions(checkpoints: .manual)
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: lasting))
      let first = try? RecordStore(at: Self.place, disk: disk, options: options)
      let added = first.map { s in
        storeError {
          try s.table("a").add(["n": 1])
          if checkpoint { try s.checkpoint() }
        }
      }
      let fresh = try RecordStore(at: Self.place, disk: memory, options: options)
      let again = lasting ? fresh : (first ?? fresh)
      do { try again.table("a").add(["n": 2]) } catch StoreError.closed {
        if disk.faultCount == 0 { break }
        continue
      }
      for names in MemoryDisk.UnsyncedNames.allCases {
        let anew = try RecordStore(at: Self.place, disk: memory.surviving(names), options: options)
        let rows = (try? anew.table("a").snapshot.map { $0.record["n"]?.integer ?? 0 }) ?? [-1]
        #expect(
          rows.contains(2),
          "lasting \(lasting) checkpoint \(checkpoint) verb \(verb) \(disk.verbs.count > verb ? "\(disk.verbs[verb])" : "") names \(names): \(rows); first said \(String(describing: added))"
        )
      }
      if disk.faultCount == 0 { break }
    }
  }
}
