import FileDBPlist
import FuzzSupport

// Testable, for what is kept beside a table's file is nobody else's matter.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

// An input tells what is to be changed in the offsets of a table, whose checksum is then made right again.
@main enum FuzzOffsets {
  static func main() { runFuzzer(test) }
}

private let path = "/store/t.plist"
private let ids = (1...120).map { AnyRecordID(rawValue: 7 * $0 % 1_000 + 1)! }

/// A table of some chunks, whose index map is too long to be read at once.
private let sample: (folder: StoreFolder, known: KnownOffsets, state: TableState) = {
  let records = ids.map { EncodedRecord(id: $0, fields: ["text": "a text"]) }
  let state = TableState(
    counter: 2_000, records: records, foreignKeys: ["a": [["wgFileDbSecretId": "1"]], "schema": ["1": "2"]],
    shape: OrderedRecords.Shape(chunk: 16, section: 4))
  do {
    let disk = MemoryDisk()
    try disk.makeFolder("/store")
    let bytes = TableFile.encode(state)
    try disk.create(path, as: .usual).append(bytes)
    let stamp = try disk.open(path).status().stamp
    let offsets = TableFile.encode(state) { _ in }
    let known = KnownOffsets(stamp: stamp, version: FileVersion(bytes), offsets: offsets)
    return (StoreFolder(path: "/store", disk: StoreDisk(disk)), known, state)
  } catch {
    fail("\(error)")
  }
}()

private func test(_ changes: [UInt8]) -> Bool {
  guard var bytes = sample.known.bytes else { fail("the sample has no offsets") }
  bytes.change(by: changes, from: 6)
  bytes = Array(bytes.dropLast(4))
  bytes.append(littleEndian: Checksum.of(bytes))
  guard let known = KnownOffsets(bytes, for: sample.known.stamp),
    let file = try? sample.folder.disk.open(path),
    let table = UnreadTable(
      file, known, of: TableKey("t"), in: sample.folder, limits: PlistLimits(), path: path,
      giveUp: { fail("\($0)") })
  else { return true }
  var choices = Choices(changes)
  check(table, &choices)
  return true
}

/// What is read is what the table has, or nothing is.
private func check(_ table: UnreadTable, _ choices: inout Choices) {
  if table.count != ids.count || table.rest.counter != sample.state.counter
    || table.rest.foreignKeys != sample.state.foreignKeys
  {
    fail("\(table.count) records, counter \(table.rest.counter), \(table.rest.foreignKeys)")
  }
  for _ in 0..<20 {
    let number = choices.next(below: (table.count + table.chunkLength - 1) / table.chunkLength)
    if let chunk = try? table.chunk(number) {
      let start = number * table.chunkLength
      if !chunk.elementsEqual(sample.state.records[start..<min(start + table.chunkLength, ids.count)]) {
        fail("chunk \(number): \(chunk.map(\.id))")
      }
    }
    let id = AnyRecordID(rawValue: Int64(choices.next(below: 1_100)))!
    if let index = try? table.find(id), index != ids.firstIndex(of: id) { fail("\(id) is at \(index)") }
  }
}
