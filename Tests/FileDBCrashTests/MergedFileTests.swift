import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// A merged table that takes the place of a file, as `filedb merge` writes it.
@Suite struct MergedFileTests {
  private static let file = "/home/ours.plist"

  private static func table(_ titles: [String], in name: String) throws -> TableSnapshot<Fields> {
    let store = RecordStore.inMemory()
    try store.table(name).add(contentsOf: titles.map { ["title": .string($0)] })
    return try store.table(name).lastSnapshot
  }

  private static func bytes(of table: TableSnapshot<Fields>) throws -> [UInt8] {
    let disk = MemoryDisk(.emptyHome)
    try table.write(to: file, on: StoreDisk(disk))
    return try disk.read(file).bytes
  }

  private let before: DiskImage
  private let merged: TableSnapshot<Fields>
  private let new: [UInt8]

  init() throws {
    let (base, ours) = (try Self.table(["a"], in: "t"), try Self.table(["a", "b"], in: "t"))
    merged = try TableMerge(base: base, ours: ours, theirs: Self.table(["a", "c", "d"], in: "t")).merged
    var image = DiskImage.emptyHome
    image.files[Self.file] = try Self.bytes(of: ours)
    before = image
    new = try Self.bytes(of: merged)
  }

  private func violations(_ meddling: RecordingDisk.Meddling = .init()) throws -> Int {
    let disk = RecordingDisk(before, storeFolder: "/home", meddling: meddling)
    try merged.write(to: Self.file, on: StoreDisk(disk))
    disk.note(.acknowledged(1))
    var count = 0
    let seed = SeededRandom.fromEnvironment("cuts in a merge").seed
    disk.forEachCut(seed: seed) { image, isAcknowledged in
      let found = image.files[Self.file]
      if found != new, isAcknowledged || found != before.files[Self.file] { count += 1 }
    }
    return count
  }

  @Test func powerCutLeavesOldFileOrNewOne() throws {
    #expect(new != before.files[Self.file])
    #expect(try violations() == 0)
  }

  @Test func everyDiskCallIsNeeded() throws {
    let disk = RecordingDisk(before, storeFolder: "/home")
    try merged.write(to: Self.file, on: StoreDisk(disk))
    #expect(disk.sites.count == 3)
    for site in disk.sites { #expect(try violations(.init(omitted: site)) > 0, "\(site)") }
  }
}
