import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Installations during which one call of the disk fails. Power cuts during installations are in FileDBCrashTests.
@Suite struct ShippingFaultTests {
  private static let reading: Set<FaultyDisk.Verb> = [
    .read, .readPrefix, .status, .extent, .list, .resolve, .open, .readAt,
  ]

  @Test(arguments: InstallPolicy.allCases)
  func faultDuringInstallLeavesOldOrNewStore(policy: InstallPolicy) throws {
    let old = try ShippingDisk.upgradable().contents()
    let complete = try ShippingDisk.upgradable()
    try complete.install("two", 2, policy)
    let new = try complete.contents()
    #expect(old != new)
    for verb in 0... {
      let shipping = try ShippingDisk.upgradable()
      let disk = FaultyDisk(over: shipping.disk, faults: .fail(at: verb, errno: ENOSPC, halfWritten: true))
      let isDone = (try? ShippingDisk(disk).install("two", 2, policy)) != nil
      let found = try shipping.contents()
      #expect(found == new || (found == old && !isDone), "verb \(verb): \(found)")
      // What is recorded is what is there.
      let report = try shipping.install("two", 2, policy)
      #expect(report.formerVersion == (found == new ? 2 : 1), "verb \(verb)")
      #expect(try shipping.contents() == new, "verb \(verb)")
      if disk.faultCount == 0 { return try shipping.check() }
    }
  }

  /// The bytes of a damaged table are in its file or in a backup, whatever fails.
  @Test(arguments: [false, true])
  func faultDuringReplaceNeverLosesDamagedTable(lasting: Bool) throws {
    let rubbish = Array("rubbish".utf8)
    func damaged() throws -> MemoryDisk {
      let disk = MemoryDisk(try ShippingDisk.upgradableImage())
      _ = try disk.replace("/user/foods.plist", with: rubbish)
      return disk
    }
    let complete = FaultyDisk(over: try damaged())
    try ShippingDisk(complete).install("two", 2, .replace)
    let verbs = complete.verbs
    let new = try ShippingDisk(complete).contents()
    // A crash while something is read is one at the next verb that writes.
    for verb in verbs.indices where !lasting || !Self.reading.contains(verbs[verb]) {
      let memory = try damaged()
      let disk = FaultyDisk(over: memory, faults: .fail(at: verb, lasting: lasting))
      _ = try? ShippingDisk(disk).install("two", 2, .replace)
      for survivor in lasting ? [memory.surviving(.kept), memory.surviving(.lost)] : [memory] {
        #expect(survivor.image.files.values.contains(rubbish), "verb \(verb)")
        try ShippingDisk(survivor).install("two", 2, .replace)
        #expect(try ShippingDisk(survivor).contents() == new, "verb \(verb)")
      }
    }
  }
}
