import FileDB
import FuzzSupport

// Testable, for the reader of binary property lists is nobody else's matter.
@testable import FileDBExchange
@testable import FileDBPlist

// An input is a binary property list, or what is in one before its offsets and its end: with those that it has, hardly
// any input would get past them.
@main enum FuzzBinary {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  let isWhole = bytes.starts(with: BinaryPlistReader.signature)
  guard let value = try? BinaryPlistReader.parse(isWhole ? bytes : withOffsets(bytes), file: "file") else {
    return true
  }
  // Unlike XML, it can hold text with control characters, and dates of any time.
  guard let normal = try? value.normalized(limits: PlistLimits()) else { return true }
  let written = BinaryPlistWriter.document(normal)
  do {
    let again = try BinaryPlistReader.parse(written, file: "file")
    if again != normal { fail("\(normal)\nread again: \(again)") }
    if BinaryPlistWriter.document(again) != written { fail("written in another way: \(normal)") }
    let xml = try PlistParser.parse(PlistWriter.document(normal))
    if xml != normal { fail("\(normal)\nin XML: \(xml)") }
  } catch {
    fail("\(error) for \(normal)")
  }
  return true
}

/// Objects that stand one behind the other, with a table of their offsets. Each begins with the byte of its kind, and
/// what it has of those after it. The first is the root.
private func withOffsets(_ bytes: [UInt8]) -> [UInt8] {
  var objects: [UInt8] = []
  var offsets: [Int] = []
  var rest = bytes[...]
  while let kind = rest.first, offsets.count < 200 {
    offsets.append(BinaryPlistReader.signature.count + objects.count)
    let low = Int(kind & 0xF)
    let count =
      switch kind >> 4 {
      case 0x1, 0x2, 0x3: 1 << min(low, 4)
      case 0x4, 0x5: low
      case 0x6, 0xD: 2 * low
      case 0xA: low
      default: 0
      }
    var object = Array(rest.prefix(1 + count))
    rest = rest.dropFirst(object.count)
    // References lead to objects that are likely to exist.
    if kind >> 4 == 0xA || kind >> 4 == 0xD {
      for place in object.indices.dropFirst() { object[place] %= 32 }
    }
    objects += object
  }
  let table = BinaryPlistReader.signature.count + objects.count
  var result = BinaryPlistReader.signature + objects
  for offset in offsets { result += [UInt8(offset >> 8 & 0xFF), UInt8(offset & 0xFF)] }
  result += [0, 0, 0, 0, 0, 0, 2, 1]
  for number in [offsets.count, 0, table] {
    result += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
  return result
}
