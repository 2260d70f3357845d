import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A store that somebody sent, with links among its files. Whatever you do to it, nothing outside changes.
@Suite struct StrangersStoreTests {
  @Test(
    arguments: OwnName.allCases.map(\.rawValue) + [
      "records-1", "", "conflicts/t.plist", "offsets/t", "shipped/t.plist",
    ])
  func linkInTheOwnFolderLeadsNowhere(name: String) throws {
    try withTemporaryFolder { folder in
      let outside = folder.appendingPathComponent("outside")
      let store = folder.appendingPathComponent("store")
      let own = store.appendingPathComponent(".filedb")
      try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
      let files = ["1.t.plist", "undo-1.plist", "records-1", "file"]
      for file in files { try Data("kept".utf8).write(to: outside.appendingPathComponent(file)) }
      do {
        let made = try RecordStore(at: store)
        try made.table("t").declare(TableSchema(fields: [FieldSchema("n", isUnique: true)]))
        try made.table("t").add(["n": 1])
        try made.table("u").add(["n": 1])
        try made.close()
      }
      let isFolder = name.isEmpty || OwnName(rawValue: name)?.isFolder == true
      let link = name.isEmpty ? own : own.appendingPathComponent(name)
      try? FileManager.default.removeItem(at: link)
      try FileManager.default.createDirectory(
        at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: link, withDestinationURL: isFolder ? outside : outside.appendingPathComponent("file"))

      try? useAll(of: store, shipped: folder.appendingPathComponent("shipped"))

      #expect(try Set(FileManager.default.contentsOfDirectory(atPath: outside.path)) == Set(files))
      for file in files {
        #expect(
          try String(contentsOf: outside.appendingPathComponent(file), encoding: .utf8) == "kept", "\(file)")
      }
    }
  }

  /// Among the backups, a service would upload it.
  @Test func swapFileThatIsALinkIsNotBackedUp() throws {
    try withTemporaryFolder { folder in
      let secret = folder.appendingPathComponent("secret")
      try Data("a private key".utf8).write(to: secret)
      let store = try RecordStore(at: folder.appendingPathComponent("store"))
      try store.table("t").add(["n": 1])
      try store.checkpoint()
      let link = store.url.appendingPathComponent(".t.plist.1abc.filedb-swap")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: secret)
      try store.checkpoint()
      let backups = store.url.appendingPathComponent(".filedb/backups").path
      #expect((try? FileManager.default.contentsOfDirectory(atPath: backups)) ?? [] == [])
      try store.checkInvariants()
    }
  }

  @Test func copyThatIsALinkIsNotMerged() throws {
    try withTemporaryFolder { folder in
      let mine = try RecordStore(at: folder.appendingPathComponent("mine"))
      try mine.table("contacts").add(["name": "Ann"])
      try mine.checkpoint()
      let store = try RecordStore(at: folder.appendingPathComponent("store"))
      try store.table("t").add(["name": "Bob"])
      try store.checkpoint()
      let name = "t (Eve's conflicted copy 2026-11-01).plist"
      try FileManager.default.createSymbolicLink(
        at: store.url.appendingPathComponent(name), withDestinationURL: mine.table("contacts").url)
      #expect(try store.strayFiles.map(\.file) == [name])
      #expect(try store.conflictCopies.isEmpty)
    }
  }

  @Test func formatNamesEverythingInTheOwnFolder() throws {
    let format = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc/Format.md")
    let text = try String(contentsOf: format, encoding: .utf8)
    for name in OwnName.allCases { #expect(text.contains("`.filedb/\(name.rawValue)"), "\(name)") }
  }

  /// Each step separately, because most fail.
  private func useAll(of folder: URL, shipped: URL) throws {
    let shipment = try RecordStore(at: shipped)
    try shipment.table("t").add(["n": 7])
    try shipment.close()
    let store = try RecordStore(at: folder)
    let steps: [() throws -> Void] = [
      { try store.table("t").add(["n": 2]) },
      { try store.checkpoint() },
      { try addInPieces(to: folder) },
      { try store.table("u").drop() },
      { try store.checkpoint() },
      { _ = try store.repair("t", keeping: .file) },
      { _ = try store.repairJournal() },
      { try ShippedStore.install(from: shipped, to: folder, version: "1", policy: .merge) },
      { try ShippedStore.install(from: shipped, to: folder, version: "2", policy: .merge) },
      { _ = try store.undoLog.write { tx in try tx["t"].add(["n": 8]) } },
      { _ = try store.undoLog.undo() },
      { _ = try store.undoLog.skip() },
      { _ = try store.check("t") },
      {
        let conflict = MergeConflict(record: 1, kind: .field("n", base: 1, ours: 2, theirs: 3))
        try store.keep(OpenConflicts(gitVersions: nil, conflicts: [conflict]), of: "t")
      },
      { try store.keep(OpenConflicts(gitVersions: nil, conflicts: []), of: "t") },
      { try store.close() },
    ]
    for step in steps { try? step() }
  }

  /// As a command does in a large table.
  private func addInPieces(to folder: URL) throws {
    var options = StoreOptions()
    options.reading = .pieces { fatalError("\($0)") }
    options.leastUnread = 1
    let store = try RecordStore(at: folder, options: options)
    try store.table("t").add(["n": 3])
    try store.checkpoint()
  }
}
