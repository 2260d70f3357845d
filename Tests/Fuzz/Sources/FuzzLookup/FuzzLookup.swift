import FileDBPlist
import FuzzSupport

// Testable, for what is kept beside a table's file is nobody else's matter.
@testable import FileDB
@testable import FileDBStorage
@testable import FileDBTables

// An input tells what is to be changed in a lookup, whose checksums are then made right again.
@main enum FuzzLookup {
  static func main() { runFuzzer(test) }
}

private let names = ["n", "text"]
/// More than one block of entries.
private let count = 600

private let sample: (known: KnownOffsets, bytes: [UInt8], headLength: Int) = {
  let known = KnownOffsets(
    stamp: FileStamp(device: 1, inode: 2, size: 99_999, modified: 3, changed: 4, isSettled: true),
    version: .absent,
    offsets: TableOffsets(count: count, chunkLength: count, chunks: [9, 99], indexMap: 9..<99))
  let entries = (0..<count).map { LookupDraft.Entry(hash: UInt64($0 / 5) << 32, index: UInt32($0)) }
  let bytes = LookupDraft(by: names, entries).bytes(for: known)
  return (known, bytes, LookupHead(of: entries, by: names, for: known).length)
}()

private let disk: MemoryDisk = {
  let disk = MemoryDisk()
  do { try disk.makeFolder("/store") } catch { fail("\(error)") }
  return disk
}()

private func test(_ changes: [UInt8]) -> Bool {
  var bytes = sample.bytes
  bytes.change(by: changes, from: 0)
  do { _ = try disk.replace("/store/lookup", with: withChecksums(bytes)) } catch { fail("\(error)") }
  guard let file = try? disk.open("/store/lookup"),
    let lookup = RecordLookup(file, by: names, for: sample.known)
  else { return true }
  var choices = Choices(changes)
  for _ in 0..<4 {
    let hash = ValueHash(number: UInt64(choices.next(below: count / 5 + 1)) << 32)
    guard let indices = lookup.indices(of: hash) else { continue }
    let isAscending = zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }
    if !isAscending || indices.contains(where: { !(0..<count).contains($0) }) { fail("\(indices)") }
  }
  return true
}

/// With the checksums of the head and of each block, wherever these are in the sample.
private func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
  guard bytes.count == sample.bytes.count else { return bytes }
  var result = Array(bytes[..<(sample.headLength - 4)])
  result.append(littleEndian: Checksum.of(result))
  let salt = Array(bytes[64..<72])
  for (number, start) in stride(from: sample.headLength, to: bytes.count, by: 512 * 12 + 4).enumerated() {
    let block = Array(bytes[start..<min(start + 512 * 12, bytes.count - 4)])
    var place = salt
    place.append(littleEndian: UInt64(number))
    result += block
    result.append(littleEndian: Checksum.of(place + block))
  }
  return result
}
