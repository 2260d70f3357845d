import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Installations that a fault or a crash cuts short, at every verb of the disk.
@Suite struct ShippingFaultTests {
  private static func prepared() throws -> MemoryDisk {
    let shipping = try ShippingDisk.upgradable()
    try shipping.user.checkpoint()
    guard let disk = shipping.disk as? MemoryDisk else {
      throw BrokenInvariant(description: "no memory disk")
    }
    return disk
  }

  @Test(arguments: InstallPolicy.allCases, [false, true])
  func theOldStoreOrTheNewOneIsThere(policy: InstallPolicy, lasting: Bool) throws {
    let old = try ShippingDisk(Self.prepared()).contents()
    let complete = try ShippingDisk(Self.prepared())
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
        let report = try survivor.install("two", 2, policy)
        #expect(!isDone || report.formerVersion == 2, "verb \(verb)")
        #expect(try survivor.contents() == new, "verb \(verb)")
        #expect(try survivor.install("two", 2, policy).formerVersion == 2)
        try survivor.check()
      }
      if disk.faultCount == 0 { break }
    }
  }

  /// What a crash left unrecorded must be as if it had not been: the next version is merged to the same as ever.
  @Test func aLaterVersionAfterACrashIsMergedAsEver() throws {
    func three(_ shipping: ShippingDisk) throws -> StoreContents {
      try shipping.ship("three", like: "two") { tx in
        try tx.set(["unit": "kg"], of: 1, in: .records("foods"))
      }
      try shipping.install("two", 2, .merge)
      try shipping.install("three", 3, .merge)
      return try shipping.contents()
    }
    let expected = try three(ShippingDisk(Self.prepared()))
    for verb in 0... {
      let memory = try Self.prepared()
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: true))
      _ = try? ShippingDisk(disk).install("two", 2, .merge)
      #expect(try three(ShippingDisk(memory.surviving(.lost))) == expected, "verb \(verb)")
      if disk.faultCount == 0 { break }
    }
  }
}
