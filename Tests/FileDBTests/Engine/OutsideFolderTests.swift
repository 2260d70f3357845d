import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Stores whose own folder is among the user's state.
@Suite struct OutsideFolderTests {
  private struct Place {
    let folder: URL
    /// Of this user on this machine.
    var state = "state"

    var store: URL { folder.appendingPathComponent("store") }

    func open(
      _ url: URL? = nil, ownFolder: OwnFolderPlace = .inStore, disk: any Disk = SystemDisk()
    ) throws -> RecordStore {
      var options = StoreOptions(checkpoints: .manual, ownFolder: ownFolder)
      options.stateFolder = folder.appendingPathComponent(state).path
      return try RecordStore(at: url ?? store, disk: disk, options: options)
    }

    func names(in url: URL) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }
  }

  private func withPlace(_ body: (Place) throws -> Void) throws {
    try withTemporaryFolder { try body(Place(folder: $0)) }
  }

  private func titles(_ store: RecordStore) throws -> [String] {
    try store.table("t").snapshot().compactMap { $0["title"]?.string }
  }

  @Test func onlyTablesAndASmallFileAreInTheStore() throws {
    try withPlace { place in
      let store = try place.open(ownFolder: .inUserState)
      try store.table("t").add(["title": "a"])
      // Whoever opens it without the option uses the same journal.
      let other = try place.open()
      #expect(try titles(other) == ["a"])
      try other.table("t").add(["title": "b"])
      #expect(try titles(store) == ["a", "b"])
      try store.checkpoint()
      #expect(try place.names(in: place.store) == [".filedb", "t.plist"])
      #expect(try store.ownFolder.path.hasPrefix(place.folder.path + "/state/stores/"))
      try store.checkInvariants()
    }
  }

  @Test func filesOfAStoreMoveWithEverythingThatWaits() throws {
    try withPlace { place in
      let former = try place.open()
      try former.table("t").add(["title": "a"])
      try former.checkpoint()
      try former.undoLog.write { tx in try tx["t"].add(["title": "b"]) }

      let store = try place.open(ownFolder: .inUserState)
      #expect(try place.names(in: place.store) == [".filedb", "t.plist"])
      #expect(try titles(store) == ["a", "b"])
      // Nobody goes on with a journal that is not there any longer.
      #expect(storeError { try former.table("t").add(["title": "lost"]) }?.code == .storeGone)
      #expect(storeError { try former.refresh() }?.code == .storeGone)
      #expect(storeError { try former.checkpoint() }?.code == .storeGone)
      try store.undoLog.undo()
      #expect(try titles(store) == ["a"])
      try store.checkInvariants()
      try store.checkpoint()
      #expect(try titles(place.open()) == ["a"])
    }
  }

  @Test func copyNeverSharesTheOwnFolder() throws {
    try withPlace { place in
      let store = try place.open(ownFolder: .inUserState)
      try store.table("t").add(["title": "a"])
      try store.checkpoint()
      let url = place.folder.appendingPathComponent("copy")
      try FileManager.default.copyItem(at: place.store, to: url)
      let copy = try place.open(url)
      #expect(try copy.ownFolder != store.ownFolder)
      try copy.table("t").add(["title": "in the copy"])
      try store.table("t").add(["title": "in the store"])
      #expect(try titles(copy) == ["a", "in the copy"])
      #expect(try titles(store) == ["a", "in the store"])
      for reopened in [try place.open(), try place.open(url)] { try reopened.checkInvariants() }
      #expect(try titles(place.open(url)) == ["a", "in the copy"])
    }
  }

  /// The folder that was there first keeps what waits, whatever it is called now.
  @Test func copyUnderTheFormerNameDoesNotTakeOver() throws {
    try withPlace { place in
      let former = try place.open(ownFolder: .inUserState)
      try former.table("t").add(["title": "in the file"])
      try former.checkpoint()
      try former.table("t").add(["title": "waits"])
      let old = place.folder.appendingPathComponent("old")
      try FileManager.default.moveItem(at: place.store, to: old)
      try FileManager.default.copyItem(at: old, to: place.store)
      #expect(storeError { try former.table("t").add(["title": "lost"]) }?.code == .storeGone)
      #expect(try titles(place.open()) == ["in the file"])
      #expect(try titles(place.open(old)) == ["in the file", "waits"])
      try place.open().table("t").add(["title": "b"])
      #expect(try titles(place.open(old)) == ["in the file", "waits"])
      for store in [try place.open(), try place.open(old)] { try store.checkInvariants() }
    }
  }

  enum Move: CaseIterable { case renamed, throughALink }

  @Test(arguments: Move.allCases) func movedStoreKeepsWhatWaits(_ move: Move) throws {
    try withPlace { place in
      try place.open(ownFolder: .inUserState).table("t").add(["title": "waits"])
      let url = place.folder.appendingPathComponent("new place")
      switch move {
      case .renamed: try FileManager.default.moveItem(at: place.store, to: url)
      case .throughALink:
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: place.store)
      }
      let moved = try place.open(url)
      #expect(try titles(moved) == ["waits"])
      try moved.table("t").add(["title": "b"])
      #expect(try titles(place.open(url)) == ["waits", "b"])
      try moved.checkInvariants()
    }
  }

  @Test func eachMachineHasItsOwn() throws {
    try withPlace { place in
      let store = try place.open(ownFolder: .inUserState)
      try store.table("t").add(["title": "a"])
      try store.checkpoint()
      var other = place
      other.state = "state of another machine"
      let there = try other.open()
      #expect(try there.ownFolder.path.hasPrefix(other.folder.path + "/state of another machine/"))
      #expect(try titles(there) == ["a"])
      try there.checkInvariants()
    }
  }

  @Test func nothingIsWrittenByLooking() throws {
    try withPlace { place in
      try FileManager.default.createDirectory(at: place.store, withIntermediateDirectories: false)
      let other = Place(folder: place.folder, state: "state of another machine")
      let text = Data(
        "FileDB keeps the journal of this store outside of this folder, on each machine.\n".utf8)
      try text.write(to: place.store.appendingPathComponent(".filedb"))
      #expect(try other.open().tableNames == [])
      #expect(try place.names(in: place.folder) == ["store"])
    }
  }

  @Test(arguments: ["", "store", "store ../../../etc\n", "FileDB", "{}"])
  func fileOfAStrangerLeadsNowhere(_ text: String) throws {
    try withPlace { place in
      try FileManager.default.createDirectory(at: place.store, withIntermediateDirectories: false)
      try Data(text.utf8).write(to: place.store.appendingPathComponent(".filedb"))
      for ownFolder in [OwnFolderPlace.inStore, .inUserState] {
        #expect(storeError { _ = try place.open(ownFolder: ownFolder) }?.code == .newerFormat)
      }
      #expect(try place.names(in: place.folder) == ["store"])
    }
  }

  /// Git may remove the file, for example on another branch.
  @Test func storeWithoutItsFileIsNotGoneOnWith() throws {
    try withPlace { place in
      let store = try place.open(ownFolder: .inUserState)
      try store.table("t").add(["title": "a"])
      try store.checkpoint()
      try store.table("t").add(["title": "waits"])
      let file = place.store.appendingPathComponent(".filedb")
      try FileManager.default.moveItem(at: file, to: place.folder.appendingPathComponent("away"))
      #expect(storeError { try store.table("t").add(["title": "lost"]) }?.code == .storeGone)
      try FileManager.default.moveItem(at: place.folder.appendingPathComponent("away"), to: file)
      try store.table("t").add(["title": "b"])
      #expect(try titles(place.open()) == ["a", "waits", "b"])
      try store.checkInvariants()
    }
  }

  @Test func ownFolderThatWasHereBeforeIsKept() throws {
    try withPlace { place in
      try place.open(ownFolder: .inUserState).table("t").add(["title": "waits"])
      try FileManager.default.removeItem(at: place.store.appendingPathComponent(".filedb"))
      try place.open().table("t").add(["title": "inside"])
      let store = try place.open(ownFolder: .inUserState)
      #expect(try titles(store) == ["inside"])
      #expect(try place.names(in: place.folder.appendingPathComponent("state/stores")).count == 2)
      try store.checkInvariants()
    }
  }

  @Test func ownFolderStaysAsPrivateAsItWas() throws {
    try withPlace { place in
      let inside = try place.open()
      try inside.table("t").add(["title": "a"])
      #expect(chmod(place.store.path + "/.filedb", 0o700) == 0)
      let store = try place.open(ownFolder: .inUserState)
      let own = try store.ownFolder
      for folder in [own, own.deletingLastPathComponent()] {
        let status = try SystemDisk().status(folder.path)
        #expect((status?.mode ?? 0) & 0o777 == 0o700, "\(folder.path)")
      }
      try store.checkInvariants()
    }
  }

  /// As after a crash between the exchange of the names and the removal.
  @Test func filesThatACrashLeftAreRemoved() throws {
    try withPlace { place in
      _ = try place.open(ownFolder: .inUserState)
      let former = place.store.appendingPathComponent(".filedb-former/undo")
      try FileManager.default.createDirectory(at: former, withIntermediateDirectories: true)
      try Data().write(to: former.appendingPathComponent("x"))
      _ = try place.open(ownFolder: .inUserState)
      #expect(try place.names(in: place.store) == [".filedb"])
    }
  }

  /// Whichever call fails, the store has all records afterwards, and the move can be tried again.
  @Test func moveCanFailAtAnyCall() throws {
    var (number, hasFailed) = (0, true)
    while hasFailed {
      try withPlace { place in
        let former = try place.open()
        try former.table("t").add(["title": "a"])
        try former.checkpoint()
        try former.table("t").add(["title": "waits"])
        let disk = FaultyDisk(over: SystemDisk(), faults: .fail(at: number))
        let failure = storeError { _ = try place.open(ownFolder: .inUserState, disk: disk) }
        let now = "\(number): \(String(describing: failure))"
        hasFailed = disk.faultCount > 0
        #expect(try titles(place.open()) == ["a", "waits"], "\(now)")
        let store = try place.open(ownFolder: .inUserState)
        #expect(try titles(store) == ["a", "waits"], "\(now)")
        #expect(try place.names(in: place.store) == [".filedb", "t.plist"], "\(now)")
        try store.checkInvariants()
      }
      number += 1
    }
    #expect(number > 20)
  }

  @Test func diskThatCannotExchangeNamesLeavesTheStoreAsItWas() throws {
    try withPlace { place in
      let store = try place.open()
      try store.table("t").add(["title": "a"])
      let disk = FaultyDisk(over: SystemDisk(), faults: .refuse(.exchange, errno: ENOSYS))
      let failure = storeError { _ = try place.open(ownFolder: .inUserState, disk: disk) }
      #expect(failure?.message.contains("cannot exchange two names") == true)
      try store.table("t").add(["title": "b"])
      #expect(try titles(place.open()) == ["a", "b"])
      #expect(try place.names(in: place.store) == [".filedb"])
      #expect(try place.names(in: place.folder.appendingPathComponent("state/stores")) == [])
      try store.checkInvariants()
    }
  }

  /// A stranger may have put a link where a crash leaves the files that had moved.
  @Test(arguments: [true, false]) func linkInThePlaceOfFormerFilesIsRemovedAlone(isStore: Bool) throws {
    try withPlace { place in
      let precious = place.folder.appendingPathComponent("precious")
      try FileManager.default.createDirectory(at: precious, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: precious.appendingPathComponent("file"))
      try FileManager.default.createDirectory(at: place.store, withIntermediateDirectories: false)
      if isStore { try place.open().table("t").add(["title": "a"]) }
      try FileManager.default.createSymbolicLink(
        at: place.store.appendingPathComponent(".filedb-former"), withDestinationURL: precious)
      let store = try place.open(ownFolder: .inUserState)
      #expect(try place.names(in: precious) == ["file"])
      #expect(try place.names(in: place.store) == [".filedb"])
      try store.checkInvariants()
    }
  }

  @Test func attachedStoreStaysAsItIs() throws {
    try withPlace { place in
      let beneath = place.folder.appendingPathComponent("beneath")
      try place.open(beneath).table("t").add(["title": "a"])
      var options = StoreOptions(ownFolder: .inUserState)
      options.stateFolder = place.folder.appendingPathComponent("state").path
      let store = try RecordStore(at: place.store, attaching: beneath, as: "main", options: options)
      #expect(try titles(store) == ["a"])
      #expect(try SystemDisk().status(beneath.path + "/.filedb")?.kind == .folder)
      try place.open(beneath).checkInvariants()
    }
  }

  /// It knows of no journal until then.
  @Test func readerThatWasThereFirstIsTold() throws {
    try withPlace { place in
      try FileManager.default.createDirectory(at: place.store, withIntermediateDirectories: false)
      let reader = try place.open()
      #expect(try reader.tableNames == [])
      try place.open(ownFolder: .inUserState).table("t").add(["title": "waits"])
      #expect(storeError { _ = try reader.table("t").count }?.code == .storeGone)
    }
  }

  @Test func linkIsNotFollowed() throws {
    try withPlace { place in
      let elsewhere = Place(folder: place.folder.appendingPathComponent("elsewhere"))
      try FileManager.default.createDirectory(at: place.store, withIntermediateDirectories: true)
      _ = try elsewhere.open(ownFolder: .inUserState)
      try FileManager.default.createSymbolicLink(
        at: place.store.appendingPathComponent(".filedb"),
        withDestinationURL: elsewhere.store.appendingPathComponent(".filedb"))
      let store = try place.open()
      #expect(throws: StoreError.self) { try store.table("t").add(["title": "a"]) }
      #expect(try place.names(in: place.folder) == ["elsewhere", "store"])
    }
  }

  /// Whether it is new, or its files move.
  @Test(arguments: [0, 1]) func severalThatMakeItAgree(recordsBefore: Int) async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = Place(folder: folder)
    for _ in 0..<recordsBefore { try await place.open().write { tx in try tx["t"].add(["n": 0]) } }
    let found = try await withThrowingTaskGroup(of: URL.self) { group in
      for number in 0..<8 {
        group.addTask {
          let store = try place.open(ownFolder: .inUserState)
          try store.write { tx in try tx["t"].add(["n": .integer(Int64(number))]) }
          return try store.ownFolder
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(found.count == 1)
    #expect(try place.names(in: place.store) == [".filedb"])
    let store = try place.open()
    let count = try await store.table("t").count
    #expect(count == 8 + recordsBefore)
    try store.checkInvariants()
  }

  // MARK: The journal of another machine

  @Test func journalOfAnotherMachineIsNotBuiltUpon() throws {
    try withPlace { place in
      func inode() throws -> UInt64? { try SystemDisk().extent(place.store.path + "/.filedb/journal")?.inode }
      let first = try place.open(disk: SystemDisk(machine: "00000001"))
      try first.table("t").add(["title": "waits"])
      let journal = try inode()
      #expect(try place.open(disk: SystemDisk(machine: "00000001")).checkJournal() == nil)

      let second = try place.open(disk: SystemDisk(machine: "00000002"))
      #expect(try second.checkJournal()?.severity == .warning)
      #expect(try inode() == journal)
      try second.table("t").add(["title": "b"])
      #expect(try inode() != journal)
      #expect(try second.checkJournal() == nil)
      let own = try inode()
      try second.table("t").add(["title": "c"])
      #expect(try inode() == own)
      // The file includes none of the commits.
      #expect(try titles(second) == ["waits", "b", "c"])
      #expect(try titles(place.open(disk: SystemDisk(machine: "00000002"))) == ["waits", "b", "c"])
      try second.checkInvariants()
    }
  }

  @Test func journalOfAnUnknownMachineIsGoneOnWith() throws {
    try withPlace { place in
      try place.open(disk: SystemDisk(machine: nil)).table("t").add(["title": "a"])
      let store = try place.open(disk: SystemDisk(machine: "00000001"))
      #expect(try store.checkJournal() == nil)
      try store.table("t").add(["title": "b"])
      #expect(try titles(place.open(disk: SystemDisk(machine: nil))) == ["a", "b"])
      try store.checkInvariants()
    }
  }
}
