import FileDBStorage
import Foundation
import TestSupport
import Testing

private let old = String(repeating: "the old content\n", count: 40)
private let new = String(repeating: "the new and longer content\n", count: 90)

/// What a power cut may leave of a file.
private enum Remains: Hashable { case old, new, missing, broken }

@Suite struct PowerCutTests {
  private static let file = "/store/todo"

  private func remains(on disk: MemoryDisk, _ names: MemoryDisk.UnsyncedNames) throws -> Remains {
    let survivor = disk.surviving(names)
    guard try survivor.status(Self.file) != nil else { return .missing }
    switch try survivor.text(Self.file) {
    case old: return .old
    case new: return .new
    default: return .broken
    }
  }

  /// What is left, by the verb before which the power was cut, with the last entry for a cut after the end.
  private func powerCuts(
    hasOld: Bool, skipping: FaultyDisk.Verb? = nil
  ) throws -> [(duringReplace: Bool, remains: Remains)] {
    let disk = MemoryDisk()
    try disk.createFolder("/store")
    if hasOld { _ = try disk.replace(Self.file, with: old.bytes) }
    let found = Found()
    let faulty = FaultyDisk(over: disk, faults: skipping.map { .skip($0) } ?? .none) { _, _ in
      for names in MemoryDisk.UnsyncedNames.allCases {
        found.add { (true, try remains(on: disk, names)) }
      }
    }
    _ = try faulty.replace(Self.file, with: new.bytes)
    for names in MemoryDisk.UnsyncedNames.allCases { found.add { (false, try remains(on: disk, names)) } }
    return try found.results.map { try $0.get() }
  }

  @Test func powerCutDuringReplaceLeavesOldOrNewFile() throws {
    let cuts = try powerCuts(hasOld: true)
    #expect(cuts.count == 2 * 10)
    for cut in cuts {
      #expect(cut.duringReplace ? [.old, .new].contains(cut.remains) : cut.remains == .new)
    }
    #expect(Set(cuts.map(\.remains)) == [.old, .new], "both must have been seen")
  }

  @Test func powerCutDuringFirstReplaceLeavesNoFileOrNewFile() throws {
    for cut in try powerCuts(hasOld: false) {
      #expect(cut.duringReplace ? [.missing, .new].contains(cut.remains) : cut.remains == .new)
    }
  }

  /// The new name may reach the disk before the bytes do.
  @Test func replaceWithoutFileSyncCanLeaveBrokenFile() throws {
    let cuts = try powerCuts(hasOld: true, skipping: .sync)
    #expect(cuts.contains { $0.remains == .broken })
  }

  /// The replacement was reported as done by then.
  @Test func replaceWithoutFolderSyncCanBeLostAfterwards() throws {
    let cuts = try powerCuts(hasOld: true, skipping: .syncFolder)
    #expect(cuts.contains { !$0.duringReplace && $0.remains == .old })
    #expect(!cuts.contains { $0.remains == .broken })
  }

  /// So do the new folders above them.
  @Test func newFoldersSurvivePowerCut() throws {
    let disk = MemoryDisk()
    try disk.createFolder("/home/me/store/.filedb")
    _ = try disk.replace("/home/me/store/todo", with: new.bytes)
    #expect(try disk.surviving().text("/home/me/store/todo") == new)
    #expect(try disk.surviving().status("/home/me/store/.filedb")?.kind == .folder)

    let careless = MemoryDisk()
    try FaultyDisk(over: careless, faults: .skip(.syncFolder)).createFolder("/home/me/store")
    _ = try careless.replace("/home/me/store/todo", with: new.bytes)
    #expect(
      try careless.surviving().status("/home/me/store/todo") == nil, "the sync of the folder above is needed")
  }

  /// It must forget as much as a real disk may, or the tests above prove nothing.
  @Test func memoryDiskForgetsUnsyncedChanges() throws {
    let disk = MemoryDisk()
    try disk.put("kept", at: "/a")
    #expect(try disk.surviving().list("/") == [])
    #expect(try disk.surviving(.kept).text("/a") == "", "a name without its bytes")
    _ = try disk.replace("/a", with: "kept".bytes)
    try disk.rename("/a", to: "/b")
    #expect(try disk.surviving().list("/") == ["a"])
    #expect(try disk.surviving(.kept).list("/") == ["b"])
    try disk.syncFolder("/")
    #expect(try disk.surviving().list("/") == ["b"])
    try disk.remove("/b")
    #expect(try disk.surviving().text("/b") == "kept")
    try disk.syncFolder("/")
    #expect(try disk.surviving().list("/") == [])
  }

  /// A fault leaves nothing behind that could stop a later call.
  @Test func createFolderSucceedsOnRetryAfterFault() throws {
    for verb in 0... {
      let disk = MemoryDisk()
      let faulty = FaultyDisk(over: disk, faults: .fail(at: verb))
      let failed = kind { try faulty.createFolder("/a/b/c") } != nil
      #expect(failed == (faulty.faultCount == 1))
      try disk.createFolder("/a/b/c")
      #expect(try disk.status("/a/b/c")?.kind == .folder)
      if faulty.faultCount == 0 { break }
    }
  }
}

/// Results, in order; errors are thrown when they are read.
private final class Found: @unchecked Sendable {  // Only ever touched by the one thread of its test.
  private(set) var results: [Result<(duringReplace: Bool, remains: Remains), any Error>] = []
  func add(_ body: () throws -> (Bool, Remains)) {
    results.append(Result { try body() }.map { (duringReplace: $0.0, remains: $0.1) })
  }
}
