import Foundation
import FuzzSupport
import NIOHTTP1

// Testable, so that a request needs no socket, and a store no folder.
@testable import FileDB
@testable import FileDBBrowse
@testable import FileDBStorage
@testable import FileDBTables

// An input is a method, an address, and, behind a line feed, the body: "GET /api/tables/t/records?count=2".
@main enum FuzzHTTP {
  static func main() { runFuzzer(test) }
}

private let options = StoreOptions(checkpoints: .manual)
private let folder = URL(fileURLWithPath: "/store")

private let sample: DiskImage = {
  do {
    let disk = MemoryDisk()
    let store = try RecordStore(at: folder, disk: disk, options: options)
    try store.undoLog.write { tx in
      try tx["t"].declare(TableSchema(fields: [FieldSchema("n", isUnique: true)]))
      try tx["t"].add(contentsOf: [
        ["n": 1, "s": "text", "d": .data(Data("GIF89a".utf8))], ["n": 2, "b": true],
        ["n": .real(.infinity), "a": ["x", ["y": 1]]],
      ])
    }
    try store.undoLog.write { tx in try tx["u"].add(["r": 1]) }
    try store.undoLog.undo()
    return disk.image
  } catch {
    fail("\(error)")
  }
}()

private func test(_ bytes: [UInt8]) -> Bool {
  let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
  guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
  let method = HTTPMethod(rawValue: String(decoding: line[..<space], as: UTF8.self))
  let head = HTTPRequestHead(
    version: .http1_1, method: method, uri: String(decoding: line[(space + 1)...], as: UTF8.self))
  if Gatekeeper().answer(to: head, at: 80) == nil { fail("let in: \(head)") }
  guard let request = Request(head, body: Array(bytes.dropFirst(line.count + 1))) else { return true }
  do { try check(request) } catch { fail("\(error)") }
  return true
}

/// Every request has an answer that a page can read. What only reads changes nothing.
private func check(_ request: Request) throws {
  let disk = MemoryDisk(sample)
  let store = try RecordStore(at: folder, disk: disk, options: options)
  let site = Site(store, access: .readAndWrite, largeFrom: 1 << 20)
  let answer = site.answer(request)
  if answer.status == .internalServerError { fail("\(answer)") }
  var bytes: [UInt8] = []
  switch answer.body {
  case .bytes(let whole): bytes = whole
  case .pieces(let produce):
    // As over a socket, an error ends the answer.
    do { try produce { bytes += $0 } } catch is StoreError {}
  case .events: break
  }
  if let type = answer.headers.first(name: "Content-Type"), type.hasPrefix("application/json") {
    checkJSON(bytes)
  }
  if request.method != .POST, disk.image != sample { fail("\(request) changed the store") }
  try checkStore(store, disk)
}

private func checkJSON(_ bytes: [UInt8]) {
  do {
    _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
  } catch { fail("\(error) in: \(String(decoding: bytes, as: UTF8.self))") }
}

private func checkStore(_ store: RecordStore, _ disk: MemoryDisk) throws {
  let fresh = try RecordStore(at: folder, disk: disk, options: options)
  for name in try store.tableNames {
    let (here, there) = (try store.table(name).snapshot(), try fresh.table(name).snapshot())
    let isSame =
      here.counter == there.counter && here.elementsEqual(there) { $0.id == $1.id && $0.fields == $1.fields }
    if !isSame || Set(here.ids).count != here.count {
      fail("\(name): \(Array(here)), on the disk \(Array(there))")
    }
  }
}
