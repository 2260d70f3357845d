import FileDBStorage
import Foundation
import TestSupport
import Testing

private let old = String(repeating: "the old content\n", count: 40)
private let new = String(repeating: "the new and longer content\n", count: 90)

/// A way for a verb to fail.
struct Failure: CustomStringConvertible, Sendable {
  var errno: CInt
  var lasting: Bool
  var halfWritten: Bool

  static let all: [Failure] = [EIO, ENOSPC, EACCES].flatMap { errno in
    [false, true].flatMap { lasting in
      [false, true].map { Failure(errno: errno, lasting: lasting, halfWritten: $0) }
    }
  }

  func faults(at verb: Int) -> FaultyDisk.Faults {
    .fail(at: verb, errno: errno, lasting: lasting, halfWritten: halfWritten)
  }

  var description: String {
    "\(String(cString: strerror(errno)))\(lasting ? ", lasting" : "")\(halfWritten ? ", half written" : "")"
  }
}

@Suite struct FaultTests {
  /// Fails each verb of a replacement in turn, until one needs no more verbs.
  private func failEveryVerb(of path: String, in folder: String, on disk: any Disk, _ failure: Failure) throws
  {
    for verb in 0... {
      try disk.put(old, at: path)
      let faulty = FaultyDisk(over: disk, faults: failure.faults(at: verb))
      let error = diskError { _ = try faulty.replace(path, with: new.bytes) }
      if faulty.faultCount == 0 {
        #expect(error == nil)
        #expect(try disk.text(path) == new)
        return
      }
      #expect(error?.errno == failure.errno, "the fault at verb \(verb) must be the error that is thrown")
      #expect([old, new].contains(try disk.text(path)), "verb \(verb)")
      // A failure before the new file has its name leaves the old one.
      if !faulty.verbs.contains(.syncFolder) { #expect(try disk.text(path) == old, "verb \(verb)") }
      // Where only one verb failed, the draft is gone at once; else whoever comes next sweeps it.
      if !failure.lasting { #expect(try disk.drafts(in: folder).isEmpty, "verb \(verb)") }
      try disk.sweepDrafts(in: folder)
      #expect(try disk.drafts(in: folder).isEmpty, "verb \(verb)")
    }
  }

  @Test(arguments: Failure.all)
  func afterAFaultTheFileIsWhole(failure: Failure) throws {
    let memory = MemoryDisk()
    try memory.createFolder("/store")
    try failEveryVerb(of: "/store/todo", in: "/store", on: memory, failure)
    try withScratchFolder { folder in
      try failEveryVerb(of: "\(folder)/todo", in: folder, on: SystemDisk(), failure)
    }
  }

  @Test func theVerbsOfAReplacement() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    _ = try disk.replace("/todo", with: new.bytes)
    #expect(
      disk.verbs == [
        .resolve, .status, .create, .append, .sync, .status, .rename, .syncFolder, .status,
      ])
  }
}

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

  @Test func aPowerCutLeavesTheOldOrTheNew() throws {
    let cuts = try powerCuts(hasOld: true)
    #expect(cuts.count == 2 * 10)
    for cut in cuts {
      #expect(cut.duringReplace ? [.old, .new].contains(cut.remains) : cut.remains == .new)
    }
    #expect(Set(cuts.map(\.remains)) == [.old, .new], "both must have been seen")
  }

  @Test func aPowerCutLeavesNoFileOrTheNew() throws {
    for cut in try powerCuts(hasOld: false) {
      #expect(cut.duringReplace ? [.missing, .new].contains(cut.remains) : cut.remains == .new)
    }
  }

  /// Without the sync of the file, its new name may come to stand on an empty file.
  @Test func theFileMustBeSynced() throws {
    let cuts = try powerCuts(hasOld: true, skipping: .sync)
    #expect(cuts.contains { $0.remains == .broken })
  }

  /// Without the sync of the folder, a replacement that was reported as done may be undone.
  @Test func theFolderMustBeSynced() throws {
    let cuts = try powerCuts(hasOld: true, skipping: .syncFolder)
    #expect(cuts.contains { !$0.duringReplace && $0.remains == .old })
    #expect(!cuts.contains { $0.remains == .broken })
  }

  /// A table's folder, and all those above it that had to be made, must not vanish with what is in it.
  @Test func newFoldersSurvive() throws {
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

  /// The disk in memory must be as forgetful as a real one, or the tests above prove nothing.
  @Test func whatTheDiskInMemoryForgets() throws {
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

  /// A fault on the way leaves no half-made state that a later run could trip over.
  @Test func foldersAreMadeAfterAFault() throws {
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

@Suite struct DraftTests {
  @Test func onlyDraftsAreSwept() throws {
    try withScratchFolder { folder in
      try sweep(in: folder, on: SystemDisk())
    }
    let memory = MemoryDisk()
    try memory.createFolder("/store")
    try sweep(in: "/store", on: memory)
  }

  private func sweep(in folder: String, on disk: any Disk) throws {
    let kept = [
      "todo.plist", ".hidden", "todo.filedb-draft", ".filedb-draft", ".todo.filedb-draft",
      "..1a.filedb-draft",
      ".todo.1a.filedb-draft.plist", ".todo.not random.filedb-draft", ".todo.1a.filedb-drafts",
    ]
    for name in kept { try disk.put("mine", at: "\(folder)/\(name)") }
    try disk.makeFolder("\(folder)/.folder.1a.filedb-draft")
    for name in ["todo.plist", "bare", "a.b.c"] {
      try leaveADraft(of: "\(folder)/\(name)", on: disk)
    }
    #expect(try disk.list(folder).count == kept.count + 1 + 3)
    try disk.sweepDrafts(in: folder)
    #expect(Set(try disk.list(folder)) == Set(kept + [".folder.1a.filedb-draft"]))
    try disk.sweepDrafts(in: folder)
  }

  /// A crash just before the rename: nothing after it happens, not even the cleaning up.
  private func leaveADraft(of path: String, on disk: any Disk) throws {
    let verbs = FaultyDisk(over: MemoryDisk())
    _ = try verbs.replace("/x", with: [])
    let rename = try #require(verbs.verbs.firstIndex(of: .rename))
    let crashing = FaultyDisk(over: disk, faults: .fail(at: rename, lasting: true))
    #expect(throws: DiskError.self) { _ = try crashing.replace(path, with: "draft".bytes) }
  }

  @Test func aLinkIsNoDraft() throws {
    try withScratchFolder { folder in
      try #require(symlink("elsewhere", "\(folder)/.todo.1a.filedb-draft") == 0)
      try SystemDisk().sweepDrafts(in: folder)
      #expect(try SystemDisk().list(folder).count == 1)
    }
  }

  @Test func aDraftThatVanishesIsNoError() throws {
    let memory = MemoryDisk()
    try memory.createFolder("/store")
    try leaveADraft(of: "/store/todo", on: memory)
    let disk = FaultyDisk(over: memory) { _, verb in
      guard verb == .remove, let draft = try? memory.drafts(in: "/store").first else { return }
      try? memory.remove("/store/\(draft)")
    }
    try disk.sweepDrafts(in: "/store")
    #expect(disk.verbs.contains(.remove))
  }
}
