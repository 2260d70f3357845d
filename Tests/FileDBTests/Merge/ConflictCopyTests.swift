import FileDBStorage
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// Copies that a sync service has kept are merged into their tables.
@Suite struct ConflictCopyTests {
  private static let copyName = "todo.sync-conflict-20261101-120000-ABCDEFG.plist"

  /// A store with the tables that `make` makes, and the same store on another machine, changed by `theirs`. Its files
  /// lie beside the tables as copies.
  private func withCopies(
    _ make: (RecordStore) throws -> Void, ours: (RecordStore) throws -> Void = { _ in },
    theirs: (RecordStore) throws -> Void, _ body: (RecordStore) throws -> Void
  ) throws {
    let (here, there) = (MemoryDisk(), MemoryDisk())
    func store(_ disk: MemoryDisk) throws -> RecordStore {
      try RecordStore(
        at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .everyCommit))
    }
    for disk in [here, there] {
      try disk.makeFolder("/store")
      try make(store(disk))
    }
    try theirs(store(there))
    try ours(store(here))
    for file in try there.list("/store") where file.hasSuffix(".plist") {
      let copy = file.replacing(".plist", with: ".sync-conflict-20261101-120000-ABCDEFG.plist")
      _ = try here.replace("/store/\(copy)", with: there.read("/store/\(file)").bytes)
    }
    let merging = try store(here)
    try body(merging)
    try merging.checkInvariants()
  }

  private func lines(_ store: RecordStore, _ table: String = "todo") throws -> [String] {
    try store.table(table).snapshot().map { record in
      "\(record.id) " + record.fields.dictionary.map { "\($0.key)=\($0.value.quoted)" }.joined(separator: " ")
    }
  }

  private func three(_ store: RecordStore) throws {
    try store.table("todo").add(contentsOf: [
      ["title": "milk", "done": false, "note": "a"], ["title": "rent", "done": false, "note": "b"],
      ["title": "Ann", "done": false, "note": "c"],
    ])
  }

  @Test(arguments: [
    (copyName, "todo", "ABCDEFG"),
    ("a-b.sync-conflict-20261101-120000-ABCDEFG.plist", "a-b", "ABCDEFG"),
    ("todo (Ann's conflicted copy 2026-11-01).plist", "todo", "Ann's"),
    ("todo (old) (Ann's conflicted copy 2026-11-01).plist", "todo (old)", "Ann's"),
    ("todo (conflicted copy 2026-11-01 120000).plist", "todo", ""),
    ("todo (SFConflict ann@example.com 2026-11-01-12-00-00).plist", "todo", "ann@example.com"),
  ])
  func nameSaysOfWhichTable(file: String, table: String, machine: String) throws {
    let disk = MemoryDisk()
    try disk.makeFolder("/store")
    _ = try disk.replace("/store/\(file)", with: Array("<plist>".utf8))
    let store = try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    let copies = try store.conflictCopies
    #expect(copies.map(\.table) == [table] && copies.map(\.machine) == [machine])
    #expect(copies.map(\.url.path) == ["/store/\(file)"])
  }

  @Test func recordsOfBothAreKept() throws {
    try withCopies(
      three, ours: { try $0.table("todo").delete(1) },
      theirs: { store in
        try store.table("todo").add(["title": "bread"], at: .index(2))
        try store.table("todo").delete(3)
      }
    ) { store in
      let merged = try store.merge(store.conflictCopies)
      #expect(
        try store.table("todo").snapshot().compactMap { $0["title"]?.string } == [
          "milk", "rent", "Ann", "bread",
        ])
      #expect(merged.map(\.added) == [[1, 4]] && merged[0].conflicts.isEmpty && merged[0].changed.isEmpty)
      #expect(try store.conflictCopies.isEmpty)
      let backup = try #require(merged[0].backup)
      #expect(try store.disk.read(backup.path).bytes.count > 0)
    }
  }

  @Test func otherValueIsAConflict() throws {
    try withCopies(
      three, ours: { try $0.table("todo").set(["note": "ours"], of: 2) },
      theirs: { store in
        try store.table("todo").set(["note": "theirs", "tag": "new"], of: 2)
        try store.table("todo").set(["done": true], of: 1)
      }
    ) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.changed == [2])
      #expect(merged.conflicts.map(\.record) == [1, 2] && merged.conflicts.map(\.field) == ["done", "note"])
      #expect(
        try store.table("todo").snapshot()[id: 2]?["note"] == "ours"
          && store.table("todo").snapshot()[id: 2]?["tag"] == "new")
      let kept = try #require(try store.openConflicts(of: "todo"))
      #expect(kept.conflicts.map(\.field) == ["done", "note"])
    }
  }

  /// Ours, theirs, and whether they are one record that was edited. There is another record, which both have.
  @Test(
    arguments: [
      (["title": "milk", "done": false], ["title": "milk", "done": true], true),
      (["title": "milk", "done": false], ["title": "bread", "done": false], false),
      (["title": "milk", "done": false], ["title": "milk", "done": false, "note": "2 litres"], true),
      // Which of the two values tells?
      (["title": "milk", "note": "a"], ["title": "milk", "note": "b"], false),
      (["title": "milk", "note": "a", "n": 1], ["title": "milk", "note": "b", "n": 1], true),
      (["title": "other"], ["title": "other", "n": 1], false),
      (["done": true], ["done": true, "n": 1], false), ([:], ["n": 1], false),
    ] as [(Fields, Fields, Bool)])
  func editedRecordIsToldFromAnotherOne(_ ours: Fields, _ theirs: Fields, isOne: Bool) throws {
    func add(_ record: Fields) -> (RecordStore) throws -> Void { { try $0.table("todo").add(record) } }
    try withCopies(add(["title": "other"]), ours: add(ours), theirs: add(theirs)) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.renumbered.isEmpty == isOne)
      #expect(try store.table("todo").count == (isOne ? 2 : 3))
    }
  }

  /// A record that both have, with a higher id, shows that this one is older than the two versions.
  @Test func oldRecordWithTwoValuesIsOneRecord() throws {
    try withCopies(
      three, ours: { try $0.table("todo").set(["note": "x"], of: 1) },
      theirs: { try $0.table("todo").set(["note": "y"], of: 1) }
    ) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.renumbered.isEmpty && merged.conflicts.map(\.field) == ["note"])
    }
  }

  @Test func differentRecordsWithOneIDAreBothKept() throws {
    func declare(_ store: RecordStore) throws {
      try store.table("lists").add(["name": "first", "parent": 1])
      try store.table("lists").declare(
        TableSchema(fields: [.init("parent", references: .init("lists"))]))
      try store.table("todo").add(["title": "milk", "list": 1])
      try store.table("todo").declare(TableSchema(fields: [.init("list", references: .init("lists"))]))
    }
    func add(_ name: String) -> (RecordStore) throws -> Void {
      { store in
        try store.table("lists").add(["name": .string("list of \(name)"), "parent": 1, name: true])
        try store.table("lists").add(["name": .string("list in that of \(name)"), "parent": 2, name: true])
        try store.table("todo").add(["title": .string("by \(name)"), "list": 2, name: true])
        try store.table("todo").set(["list": 3], of: 1)
      }
    }
    try withCopies(declare, ours: add("ours"), theirs: add("theirs")) { store in
      let merged = try store.merge(store.conflictCopies)
      let renumbered = merged.flatMap(\.renumbered).map { "\($0.side) \($0.oldID) \($0.newID)" }
      #expect(renumbered == ["theirs 2 4", "theirs 3 5", "theirs 2 3"])
      let parents = try store.table("lists").snapshot().compactMap { $0["parent"]?.integer }
      let lists = try store.table("todo").snapshot().compactMap { $0["list"]?.integer }
      #expect(parents == [1, 1, 2, 1, 4] && lists == [3, 2, 4])
    }
  }

  @Test func commonVersionTellsWhatWasDeleted() throws {
    var base: TableSnapshot<Fields>?
    try withCopies(
      { store in
        try three(store)
        base = try store.table("todo").snapshot()
      }, ours: { try $0.table("todo").delete(1) },
      theirs: { store in
        try store.table("todo").set(["note": "theirs"], of: 2)
        try store.table("todo").delete(3)
      }
    ) { store in
      var copies = try store.conflictCopies
      copies[0].base = base
      let merged = try store.merge(copies)[0]
      #expect(try lines(store).count == 1 && store.table("todo").snapshot()[id: 2]?["note"] == "theirs")
      #expect(merged.removed == [3] && merged.changed == [2] && merged.conflicts.isEmpty)
    }
  }

  @Test func orderOfTheTableIsKept() throws {
    try withCopies(three, theirs: { try $0.table("todo").move(3, to: .top) }) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(try store.table("todo").snapshot().ids == [1, 2, 3])
      #expect(merged.conflicts.map(\.record) == [nil] && merged.conflicts.map(\.field) == [nil])
    }
  }

  @Test func copyThatIsMergedAgainBringsNothing() throws {
    try withCopies(
      three, ours: { try $0.table("todo").add(["title": "ours"]) },
      theirs: { try $0.table("todo").add(["title": "theirs"]) }
    ) { store in
      let bytes = try store.disk.read("/store/\(Self.copyName)").bytes
      try store.merge(store.conflictCopies)
      let before = try lines(store)
      _ = try store.disk.replace("/store/\(Self.copyName)", with: bytes)
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.added.isEmpty && merged.changed.isEmpty && merged.conflicts.isEmpty)
      #expect(try lines(store) == before && before.count == 5)
      #expect(merged.backup == nil && !merged.hasBroughtChanges)
    }
  }

  @Test func copyThatChangesMeanwhileStays() throws {
    try withCopies(three, theirs: { try $0.table("todo").add(["title": "theirs"]) }) { store in
      let merge = try ConflictCopiesMerge(store.conflictCopies, in: store)
      let merged = try store.write { tx in try merge.carryOut(in: &tx) }
      let bytes = try store.disk.read("/store/\(Self.copyName)").bytes
      _ = try store.disk.replace("/store/\(Self.copyName)", with: bytes + [UInt8(ascii: "\n")])
      #expect(try merge.finish(merged)[0].backup == nil && store.conflictCopies.count == 1)
    }
  }

  /// The copy is the table's own file, and a commit waits: the table changes, and the file does not.
  @Test func copyOfTheTablesOwnFileStays() throws {
    let disk = MemoryDisk()
    try disk.makeFolder("/store")
    let store = try RecordStore(
      at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions(checkpoints: .manual))
    try three(store)
    try store.checkpoint()
    let bytes = try disk.read("/store/todo.plist").bytes
    _ = try disk.replace("/store/\(Self.copyName)", with: bytes)
    try store.table("todo").delete(3)
    let merged = try store.merge(store.conflictCopies)[0]
    #expect(merged.added == [3] && merged.backup == nil)
    #expect(try store.conflictCopies.count == 1)
    try store.checkInvariants()
  }

  @Test func newerSchemaOfTheCopyIsNotDeclared() throws {
    func declare(_ version: Int64) -> (RecordStore) throws -> Void {
      { try $0.table("todo").declare(TableSchema(version: version, fields: [.init("title")])) }
    }
    try withCopies(three, ours: declare(1), theirs: declare(2)) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.otherKeys == ["schema"])
      #expect(try store.table("todo").snapshot().schema?.version == 1)
    }
  }

  @Test func anotherSchemaInTheCopyIsNamed() throws {
    try withCopies(
      three,
      theirs: { store in
        try store.table("todo").declare(TableSchema(fields: [.init("title", isRequired: true)]))
      }
    ) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.otherKeys == ["schema"])
      #expect(try store.table("todo").snapshot().schema == nil)
    }
  }

  @Test func refusalLeavesEverythingAsItIs() throws {
    try withCopies(three, theirs: { try $0.table("todo").add(["title": "theirs"]) }) { store in
      let before = try lines(store)
      let copies = try store.conflictCopies
      #expect(storeError { try store.write { _ in _ = try store.merge(copies) } }?.code == .insideWrite)
      let other = ConflictCopy(of: "missing", at: copies[0].url)
      #expect(storeError { try store.merge([other]) }?.code == .tableNotFound)
      let itself = ConflictCopy(of: "todo", at: try store.url(of: "todo"))
      #expect(storeError { try store.merge([itself]) }?.code == .tableExists)
      let bytes = try store.disk.read("/store/\(Self.copyName)").bytes
      _ = try store.disk.replace("/store/\(Self.copyName)", with: Array(bytes.prefix(bytes.count / 2)))
      let half = storeError { try store.merge(copies) }
      #expect(half?.code == .damagedTable && half?.file?.hasSuffix(Self.copyName) == true)
      #expect(try lines(store) == before && store.conflictCopies.count == 1)
    }
  }

  /// As many records as make anything that looks at pairs of them notice.
  @Test func manyRecordsAreMerged() throws {
    func records(of name: String) -> [Fields] {
      (0..<20_000).map { ["title": .string("record \($0) of \(name)"), "n": .integer($0)] }
    }
    func add(_ name: String) -> (RecordStore) throws -> Void {
      { store in try store.table("todo").add(contentsOf: records(of: name)) }
    }
    try withCopies(add("both"), ours: add("ours"), theirs: add("theirs")) { store in
      let merged = try store.merge(store.conflictCopies)[0]
      #expect(merged.renumbered.count == 20_000)
      #expect(try store.table("todo").count == 60_000)
    }
  }
}

extension MergeConflict {
  /// The field that both sides changed.
  fileprivate var field: String? { if case .field(let name, _, _, _) = kind { name } else { nil } }
}
