import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a store can stand on a disk in memory that already holds a file.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

private let options = StoreOptions(limits: PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 20))
private let folder = URL(fileURLWithPath: "/store")
private let file = "/store/t.plist"

// An input is the file of a table.
@main enum FuzzTable {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  guard let state = decode(bytes) else { return true }
  checkFixedPoint(state)
  do { try checkStore(bytes, state) } catch { fail("\(error)") }
  return true
}

/// `nil` if the file is refused, which must give the place and must not depend on who reads it.
private func decode(_ bytes: [UInt8]) -> TableState? {
  do throws(StoreError) {
    return try TableFile.decode(bytes, file: file, table: "t", limits: options.limits)
  } catch {
    if error.code == .damagedTable, error.line == nil { fail("no line: \(error)") }
    return nil
  }
}

/// Whatever is read is written so that it is read alike, and then written alike.
private func checkFixedPoint(_ state: TableState) {
  let written = TableFile.encode(state)
  guard let again = decode(written) else { fail("refused: \(text(written))") }
  if again.counter != state.counter || !hasEqualRecords(again, state)
    || again.foreignKeys != state.foreignKeys
  {
    fail("read: \(state)\nread again: \(again)")
  }
  let writtenAgain = TableFile.encode(again)
  if written != writtenAgain { fail("\(text(written))\nthen: \(text(writtenAgain))") }
}

/// A store takes the file, changes it, and a fresh store reads what the first one has.
private func checkStore(_ bytes: [UInt8], _ state: TableState) throws {
  let disk = MemoryDisk()
  try disk.makeFolder("/store")
  try disk.create(file, as: .usual).append(bytes)
  let store = try RecordStore(at: folder, disk: disk, options: options)
  _ = try store.check("t")
  let table = try store.table("t")
  var choices = Choices(bytes)
  do { try change(table, &choices) } catch let error as StoreError {
    // A table that has given the highest id there is takes no more records.
    guard state.counter == .max else { throw error }
  }
  let here = table.lastSnapshot
  let there = try RecordStore(at: folder, disk: disk, options: options).table("t").lastSnapshot
  let isEqual =
    try here.counter == there.counter && here.map(\.id) == there.map(\.id)
    && here.values().get() == there.values().get()
  if !isEqual { fail("in memory: \(Array(here))\non the disk: \(Array(there))") }
}

private func change(_ table: RecordTable<Fields>, _ choices: inout Choices) throws {
  let ids = table.lastSnapshot.map(\.id)
  try table.add(["a": "new"], at: .index(choices.next(below: ids.count + 1)))
  guard !ids.isEmpty else { return }
  try table.move(ids[choices.next(below: ids.count)], to: .top)
  try table.update(ids[choices.next(below: ids.count)]) { $0["b"] = true }
  try table.delete(ids[choices.next(below: ids.count)])
}

private func hasEqualRecords(_ left: TableState, _ right: TableState) -> Bool {
  left.records.count == right.records.count
    && zip(left.records, right.records).allSatisfy { $0.id == $1.id && $0.fields == $1.fields }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
