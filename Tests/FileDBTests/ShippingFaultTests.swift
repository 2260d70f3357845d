import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Installations that a fault or a crash cuts short, at every verb of the disk.
@Suite struct ShippingFaultTests {
  private static func prepared() throws -> MemoryDisk {
    guard let disk = try ShippingDisk.upgradable().disk as? MemoryDisk else {
      throw BrokenInvariant(description: "no memory disk")
    }
    return disk
  }

  @Test(arguments: InstallPolicy.allCases, [false, true])
  func theOldStoreOrTheNewOneIsThere(policy: InstallPolicy, lasting: Bool) throws {
    let old = try ShippingDisk.upgradable().contents()
    let complete = try ShippingDisk.upgradable()
    try complete.install("two", 2, policy)
    let new = try complete.contents()
    #expect(old != new)
    for verb in 0... {
      let memory = try Self.prepared()
      let disk = FaultyDisk(
        over: memory, faults: .fail(at: verb, errno: ENOSPC, lasting: lasting, halfWritten: true))
      let isDone = (try? ShippingDisk(disk).install("two", 2, policy)) != nil
      // A disk that fails once goes on; after a crash there is what a power cut leaves.
      let disks = lasting ? [memory.surviving(.kept), memory.surviving(.lost)] : [memory]
      for survivor in disks.map({ ShippingDisk($0) }) {
        let found = try survivor.contents()
        #expect(found == new || (found == old && !isDone), "verb \(verb): \(found)")
        // What is recorded is what is there.
        let report = try survivor.install("two", 2, policy)
        #expect(report.formerVersion == (found == new ? 2 : 1), "verb \(verb)")
        #expect(try survivor.contents() == new, "verb \(verb)")
        try survivor.check()
      }
      if disk.faultCount == 0 { break }
    }
  }

  /// What the user does to a version that a crash left unacknowledged is as good as any other change.
  @Test func whatTheUserDoesAfterACrashIsKept() throws {
    func goOn(_ shipping: ShippingDisk) throws -> StoreContents {
      if let quince = try shipping.user.table("foods").snapshot.first(where: {
        $0.record["title"] == "Quince"
      }) {
        try shipping.user.write { tx in
          try tx.set(["title": "Mine by now"], of: quince.id, in: .records("foods"))
          try tx.drop(.records("news"))
        }
      }
      try shipping.install("two", 2, .merge)
      try shipping.install("three", 3, .merge)
      return try shipping.contents()
    }
    func prepared() throws -> MemoryDisk {
      let disk = try Self.prepared()
      try ShippingDisk(disk).ship("three", like: "two") { tx in
        try tx.set(["unit": "kg"], of: 4, in: .records("foods"))
        try tx.add(["title": "Newer"], to: .records("news"))
      }
      return disk
    }
    let neither = try goOn(ShippingDisk(prepared()))
    let both = try ShippingDisk(prepared())
    try both.install("two", 2, .merge)
    let edited = try goOn(both)
    #expect(try both.user.table("foods").row(with: 5) == ["title": "Mine by now", "unit": "kg"])
    #expect(neither != edited)
    for verb in 0... {
      let memory = try prepared()
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: true))
      _ = try? ShippingDisk(disk).install("two", 2, .merge)
      for survivor in [memory.surviving(.kept), memory.surviving(.lost)].map({ ShippingDisk($0) }) {
        let isThere = try survivor.user.tableNames.contains("news")
        #expect(try goOn(survivor) == (isThere ? edited : neither), "verb \(verb)")
      }
      if disk.faultCount == 0 { break }
    }
  }
}
