import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct DraftTests {
  @Test func sweepRemovesOnlyDrafts() throws {
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

  @Test func swapsAreFoundByTheirNamesAndSweptByNobodyElse() throws {
    let disk = MemoryDisk()
    try disk.createFolder("/store")
    let others = ["todo.plist", ".todo.filedb-swap", ".todo.1a.filedb-draft", ".todo.not random.filedb-swap"]
    for name in others + [".todo.plist.1a.filedb-swap", ".a.b.zz.filedb-swap"] {
      try disk.put("", at: "/store/\(name)")
    }
    try disk.makeFolder("/store/.folder.1a.filedb-swap")
    let swaps = try disk.swaps(in: "/store").sorted { $0.path < $1.path }
    #expect(swaps.map(\.path) == ["/store/.a.b.zz.filedb-swap", "/store/.todo.plist.1a.filedb-swap"])
    #expect(swaps.map(\.file) == ["a.b", "todo.plist"])
    #expect(try disk.swaps(in: "/store", changedBefore: 0).isEmpty)
    try disk.sweepDrafts(in: "/store")
    #expect(try disk.swaps(in: "/store").count == 2)
  }

  /// A crash just before the rename: nothing after it happens, not even the cleaning up.
  private func leaveADraft(of path: String, on disk: any Disk) throws {
    let verbs = FaultyDisk(over: MemoryDisk())
    _ = try verbs.replace("/x", with: [])
    let rename = try #require(verbs.verbs.firstIndex(of: .rename))
    let crashing = FaultyDisk(over: disk, faults: .fail(at: rename, lasting: true))
    #expect(throws: DiskError.self) { _ = try crashing.replace(path, with: "draft".bytes) }
  }

  @Test func sweepKeepsLinkNamedLikeDraft() throws {
    try withScratchFolder { folder in
      try #require(symlink("elsewhere", "\(folder)/.todo.1a.filedb-draft") == 0)
      try SystemDisk().sweepDrafts(in: folder)
      #expect(try SystemDisk().list(folder).count == 1)
    }
  }

  @Test func sweepIgnoresDraftRemovedMeanwhile() throws {
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
