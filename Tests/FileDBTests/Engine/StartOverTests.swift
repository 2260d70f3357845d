import FileDBStorage
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// A folder that follows a shared log, and replaces all of its tables with those of the log.
@Suite struct StartOverTests {
  private static let options = StoreOptions(checkpoints: .manual)
  private static let names = ["a", "b", "gone"]

  private static func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: options)
  }

  private static func log(_ disk: any Disk) -> FileLog {
    FileLog(StoreFolder(path: "/store", disk: StoreDisk(disk)), options: options)
  }

  /// A store with a commit in each table's file, and one in the journal.
  private static func makeStore() throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk)
    for name in names { try store.table(name).add(["text": "old"]) }
    try store.checkpoint()
    for name in names { try store.table(name).add(["text": "old"]) }
    return disk
  }

  private static func startOver(_ disk: any Disk, breaking: Bool = false) throws {
    let source = MemoryDisk()
    try open(source).table("t").add(["text": "new"])
    let log = log(source)
    try log.readOn()
    let new = try log.readUntilStable(TableKey("t")).state
    let folder = Self.log(disk)
    try folder.whileLocked(timeout: .seconds(1)) {
      try folder.startOver { take throws(StoreError) in
        try take(TableKey("a"), new)
        if breaking { throw StoreError(.unreachable, "away") }
        try take(TableKey("a"), new)
        try take(TableKey("b"), new)
        try take(TableKey("gone"), TableState(counter: 7))
        return (100, nil)
      }
    }
  }

  private static func texts(_ disk: any Disk) throws -> [[String]] {
    let store = try open(disk)
    return try names.map { name in try store.table(name).snapshot().map { $0["text"]?.string ?? "" } }
  }

  @Test func tablesStayAsTheyWereIfTheLogBreaksOff() throws {
    let disk = try Self.makeStore()
    #expect(storeError { try Self.startOver(disk, breaking: true) }?.code == .unreachable)
    #expect(try Self.texts(disk) == [["old", "old"], ["old", "old"], ["old", "old"]])
    #expect(try disk.list("/store").filter { $0.contains("draft") } == [])
    try Self.startOver(disk)
    #expect(try Self.texts(disk) == [["new"], ["new"], []])
    let store = try Self.open(disk)
    #expect(try store.table("gone").add(["text": "again"]).rawValue == 8)
    try store.checkInvariants()
  }

  @Test func eachTableCanBeReadAfterACrash() throws {
    for verb in 0... {
      let disk = try Self.makeStore()
      let faulty = FaultyDisk(over: disk, faults: .fail(at: verb, lasting: true))
      try? Self.startOver(faulty)
      for (name, texts) in try zip(Self.names, Self.texts(disk)) {
        let new = name == "gone" ? [] : ["new"]
        #expect(texts == ["old", "old"] || texts == new, "\(name) after \(verb) verbs")
      }
      try Self.open(disk).checkInvariants()
      try Self.startOver(disk)
      #expect(try Self.texts(disk) == [["new"], ["new"], []])
      if faulty.faultCount == 0 { break }
    }
  }
}
