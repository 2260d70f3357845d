import FileDBPlist
import Foundation
import TestSupport
import Testing

@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

/// Files of the undo log that a stranger may have written.
@Suite struct ForgedUndoTests {
  private static let folder = URL(fileURLWithPath: "/store")
  private static let options = StoreOptions(
    limits: PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 20), checkpoints: .manual)

  private static func nested(_ depth: Int) -> PlistValue {
    (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) }
  }

  /// The journal could not be read again.
  @Test(arguments: ["schema", "removed", "updated"]) func stepThatIsTooDeepForATableIsRefused(part: String)
    throws
  {
    let disk = MemoryDisk()
    let store = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    try store.table("t").add(contentsOf: (1...3).map { ["n": .integer($0)] })
    try store.undoLog.write { tx in
      try tx["t"].delete([2])
      try tx["t"].update(3) { $0["n"] = "b" }
      try tx["t"].declare(TableSchema(fields: [FieldSchema("n")]))
    }
    let token = try #require(try store.fileLog.undoHead)
    let files = try store.folder
    let names = try #require(try files.undoFiles()[token])
    let sound = try PlistParser.parse(#require(try files.readUndo(.changes, among: names)))
    var step = try #require(sound.dict)
    var table = try #require(step["t"]?.dict)
    switch part {
    case "schema":
      table["schema"] = .dict([
        "after": try #require(table["schema"]?.dict?["after"]), "before": Self.nested(14),
      ])
    case "removed":
      var removed = try #require(table["removed"]?.array?.first?.dict)
      removed["fields"] = .dict(["n": Self.nested(10)])
      table["removed"] = .array([.dict(removed)])
    default:
      var updated = try #require(table["updated"]?.array?.first?.dict)
      updated["before"] = .dict(["n": Self.nested(10)])
      table["updated"] = .array([.dict(updated)])
    }
    step["t"] = .dict(table)
    files.removeUndoFiles(names.filter { $0.hasSuffix(".changes") })
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append(.dict(step), indentation: 0)
    writer.append(PlistWriter.footer)
    try files.writeUndo(.changes, [writer.bytes], of: token)

    let forged = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    #expect(storeError { _ = try forged.undoLog.undo() }?.code == .undoStepLost)
    let reopened = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    #expect(try reopened.table("t").snapshot().ids == [1, 3])
    try reopened.checkInvariants()
  }

  /// The next write stopped the program when it doubled the number.
  @Test(arguments: [Int64.max, -1]) func sizeOfTheTablesMayBeAnyNumber(size: Int64) throws {
    let disk = MemoryDisk()
    let store = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    try store.undoLog.write { tx in try tx["t"].add(["n": 1]) }
    let token = try #require(try store.fileLog.undoHead)
    let files = try store.folder
    let names = try #require(try files.undoFiles()[token])
    let sound = try PlistParser.parse(#require(try files.readUndo(.step, among: names)))
    var step = try #require(sound.dict)
    step["peak"] = .integer(size)
    files.removeUndoFiles(names.filter { $0.hasSuffix(".step") })
    try files.writeUndo(.step, [PlistWriter.document(.dict(step))], of: token)

    let forged = try RecordStore(at: Self.folder, disk: disk, options: Self.options)
    try forged.undoLog.write { tx in try tx["t"].add(["n": 2]) }
    #expect(try forged.undoLog.contents().undo.count == 2)
    #expect(try forged.undoLog.undo() != nil && forged.undoLog.undo() != nil)
    try forged.checkInvariants()
  }
}
