import FileDB
import FileDBEssentials

/// Writes binary property lists in the form of CoreFoundation's `bplist00`.
struct BinaryPlistWriter {
  /// An entry of the list of objects. Containers refer to others by their places in it.
  private enum Object {
    case scalar(PlistValue)
    case array([Int])
    case dict(keys: [Int], values: [Int])
  }

  private var objects: [Object] = []
  /// Keys usually occur again in the next record.
  private var keys: [[UInt8]: Int] = [:]
  private var bytes = Array("bplist00".utf8)

  /// - Parameter root: a normalized value.
  static func document(_ root: PlistValue) -> [UInt8] {
    var writer = BinaryPlistWriter()
    _ = writer.add(root)
    return writer.document()
  }

  private mutating func add(_ value: PlistValue) -> Int {
    let place = objects.count
    objects.append(.scalar(value))
    switch value {
    case .array(let elements): objects[place] = .array(elements.map { add($0) })
    case .dict(let entries):
      objects[place] = .dict(keys: entries.map { add(key: $0.key) }, values: entries.map { add($0.value) })
    default: break
    }
    return place
  }

  private mutating func add(key: String) -> Int {
    let name = Array(key.utf8)
    if let place = keys[name] { return place }
    let place = add(.string(key))
    keys[name] = place
    return place
  }

  private consuming func document() -> [UInt8] {
    let referenceSize = Self.size(of: objects.count)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      append(object, referenceSize: referenceSize)
    }
    let table = bytes.count
    let offsetSize = Self.size(of: table)
    for offset in offsets { append(UInt64(offset), size: offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [objects.count, 0, table] { append(UInt64(number), size: 8) }
    return bytes
  }

  private mutating func append(_ object: Object, referenceSize: Int) {
    switch object {
    case .scalar(let value): append(value)
    case .array(let elements):
      append(marker: 0xA0, count: elements.count)
      for place in elements { append(UInt64(place), size: referenceSize) }
    case .dict(let keys, let values):
      append(marker: 0xD0, count: keys.count)
      for place in keys + values { append(UInt64(place), size: referenceSize) }
    }
  }

  private mutating func append(_ value: PlistValue) {
    switch value {
    case .bool(let value): bytes.append(value ? 0x09 : 0x08)
    case .integer(let number): append(number)
    case .unsigned(let number):
      // As eight bytes, it would be read as a negative number.
      bytes.append(0x14)
      append(0, size: 8)
      append(number, size: 8)
    case .real(let number):
      bytes.append(0x23)
      append(number.bitPattern, size: 8)
    case .date(let date):
      bytes.append(0x33)
      append(date.timeIntervalSinceReferenceDate.bitPattern, size: 8)
    case .data(let data):
      append(marker: 0x40, count: data.count)
      bytes += data
    case .string(let text): append(text)
    case .array, .dict: break  // These are objects of their own.
    }
  }

  private mutating func append(_ number: Int64) {
    // Numbers with fewer than eight bytes are never negative.
    let power = number < 0 ? 3 : [0xFF, 0xFFFF, 0xFFFF_FFFF].firstIndex { number <= $0 } ?? 3
    bytes.append(0x10 | UInt8(power))
    append(UInt64(bitPattern: number), size: 1 << power)
  }

  private mutating func append(_ text: String) {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      append(marker: 0x50, count: text.utf8.count)
      bytes += text.utf8
    } else {
      append(marker: 0x60, count: text.utf16.count)
      for unit in text.utf16 { append(UInt64(unit), size: 2) }
    }
  }

  private mutating func append(marker: UInt8, count: Int) {
    bytes.append(marker | UInt8(min(count, 15)))
    if count >= 15 { append(Int64(count)) }
  }

  /// Appends the low bytes of a number, the highest of them first.
  private mutating func append(_ number: UInt64, size: Int) {
    for position in (0..<size).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(position * 8)))
    }
  }

  /// The number of bytes for numbers up to `limit`: 1, 2, 4 or 8.
  private static func size(of limit: Int) -> Int {
    limit <= 0xFF ? 1 : limit <= 0xFFFF ? 2 : limit <= 0xFFFF_FFFF ? 4 : 8
  }
}
