import FileDB
import FileDBEssentials

/// Reads binary property lists. It trusts nothing in the file: it checks every offset, count and reference. It refuses
/// a list that refers to its parts again and again, so that a small file would become a large value.
struct BinaryPlistReader {
  static let signature = Array("bplist00".utf8)
  private static let trailerSize = 32
  /// The cost of a value for each reference to it, besides its text or data.
  private static let bytesOfValue = 32
  /// The total cost that any list may have, with each part counted for each reference to it.
  private static let freeBytes = 64 << 20

  private let bytes: [UInt8]
  private let limits: PlistLimits
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let offsetTable: Int
  /// Scalars by their places. A key usually occurs again in the next record.
  private var scalars: [Int: PlistValue] = [:]
  /// The cost that the values may still have. A list that does not refer to a large part twice never uses it up,
  /// because each reference takes at least a byte of the file.
  private var bytesLeft: Int

  /// - Throws: ``StoreError/Code/invalidText`` with the byte at which the list is broken.
  static func parse(_ bytes: [UInt8], file: String, limits: PlistLimits = PlistLimits()) throws -> PlistValue
  {
    do {
      var (reader, root) = try open(bytes, limits)
      return try reader.value(root, depth: 0)
    } catch {
      throw StoreError(
        .invalidText, "byte \(error.offset) of this binary property list: \(error.message)",
        file: file)
    }
  }

  private struct Fault: Error {
    var message: String
    var offset: Int
  }

  private static func open(
    _ bytes: [UInt8], _ limits: PlistLimits
  ) throws(Fault) -> (BinaryPlistReader, root: Int) {
    guard bytes.count >= signature.count + trailerSize, bytes.starts(with: signature) else {
      throw Fault(message: "the file is too short", offset: bytes.count)
    }
    let trailer = bytes.count - trailerSize
    func number(_ offset: Int) -> Int {
      bytes[(trailer + offset)..<(trailer + offset + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }.clamped
    }
    let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    let (count, root, table) = (number(8), number(16), number(24))
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count > 0, root < count,
      table >= signature.count, table <= trailer, (trailer - table) % offsetSize == 0,
      count == (trailer - table) / offsetSize
    else { throw Fault(message: "the end of the file is damaged", offset: trailer) }
    let reader = BinaryPlistReader(
      bytes: bytes, limits: limits, offsetSize: offsetSize, referenceSize: referenceSize, objectCount: count,
      offsetTable: table, bytesLeft: freeBytes + bytes.count * bytesOfValue)
    // Foundation refuses a list with an object after the others, even if nothing refers to it.
    for object in 0..<count where reader.offset(of: object) >= table {
      throw Fault(
        message: "an object lies outside the object area of the file", offset: table + object * offsetSize)
    }
    return (reader, root)
  }

  private mutating func value(_ reference: Int, depth: Int) throws(Fault) -> PlistValue {
    let start = offset(of: reference)
    guard start >= Self.signature.count else {
      throw Fault(
        message: "an object lies outside the object area of the file",
        offset: offsetTable + reference * offsetSize)
    }
    if let scalar = scalars[reference] {
      try charge(scalar, at: start)
      return scalar
    }
    var offset = start
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0xF))
    offset += 1
    switch kind {
    case 0xA:
      try charge(Self.bytesOfValue, at: start)
      let count = try count(low, at: &offset)
      return .array(try elements(count, at: offset, depth: depth))
    case 0xD:
      try charge(Self.bytesOfValue, at: start)
      let count = try count(low, at: &offset)
      return .dict(try dictionary(count, at: offset, depth: depth))
    default:
      let value = try scalar(kind, low, at: offset, start: start)
      try charge(value, at: start)
      scalars[reference] = value
      return value
    }
  }

  private mutating func charge(_ scalar: PlistValue, at offset: Int) throws(Fault) {
    switch scalar {
    case .string(let text): try charge(Self.bytesOfValue + text.utf8.count, at: offset)
    case .data(let data): try charge(Self.bytesOfValue + data.count, at: offset)
    default: try charge(Self.bytesOfValue, at: offset)
    }
  }

  private mutating func charge(_ count: Int, at offset: Int) throws(Fault) {
    bytesLeft -= count
    guard bytesLeft >= 0 else {
      throw Fault(
        message: "the list uses the same parts so often that it would become too large", offset: offset)
    }
  }

  private func scalar(_ kind: UInt8, _ low: Int, at position: Int, start: Int) throws(Fault) -> PlistValue {
    var offset = position
    switch (kind, low) {
    case (0x0, 8): return false
    case (0x0, 9): return true
    case (0x1, 0...4): return try integer(at: offset, size: 1 << low)
    case (0x2, 2): return .real(Double(Float(bitPattern: UInt32(try number(at: offset, size: 4)))))
    case (0x2, 3): return .real(Double(bitPattern: try number(at: offset, size: 8)))
    case (0x3, 3):
      let seconds = Double(bitPattern: try number(at: offset, size: 8))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (0x4, _):
      let count = try count(low, at: &offset)
      return .data(Data(bytes[try range(offset, count: count, size: 1)]))
    case (0x5, _):
      let count = try count(low, at: &offset)
      let characters = bytes[try range(offset, count: count, size: 1)]
      guard characters.allSatisfy({ $0 < 0x80 }) else {
        throw Fault(message: "a string is not ASCII", offset: start)
      }
      return .string(String(decoding: characters, as: UTF8.self))
    case (0x6, _):
      let count = try count(low, at: &offset)
      let characters = bytes[try range(offset, count: count, size: 2)]
      let first = characters.startIndex
      let units = (0..<count).map {
        UInt16(characters[first + $0 * 2]) << 8 | UInt16(characters[first + $0 * 2 + 1])
      }
      guard let text = String(validating: units, as: UTF16.self) else {
        throw Fault(message: "a string is not UTF-16", offset: start)
      }
      return .string(text)
    default: throw Fault(message: Self.description(ofForeign: kind, low), offset: start)
    }
  }

  /// Describes an object that the binary format can contain, but an XML property list cannot.
  private static func description(ofForeign kind: UInt8, _ low: Int) -> String {
    let name =
      switch (kind, low) {
      case (0x0, 0): "null"
      case (0x0, 0xC), (0x0, 0xD): "a URL"
      case (0x0, 0xE): "a UUID"
      case (0x8, _): "a UID of a keyed archive"
      case (0xB, _), (0xC, _): "a set"
      default: "an object of an unknown type"
      }
    return "this is \(name); a record cannot hold it"
  }

  private func integer(at offset: Int, size: Int) throws(Fault) -> PlistValue {
    guard size == 16 else {
      let number = try number(at: offset, size: size)
      return size == 8 ? .integer(Int64(bitPattern: number)) : .integer(Int64(number))
    }
    let (high, low) = (try number(at: offset, size: 8), try number(at: offset + 8, size: 8))
    if high == 0 { return PlistValue(low) }
    if high == .max, low >> 63 == 1 { return .integer(Int64(bitPattern: low)) }
    throw Fault(message: "an integer is not from -2^63 to 2^64-1", offset: offset)
  }

  private mutating func elements(_ count: Int, at offset: Int, depth: Int) throws(Fault) -> [PlistValue] {
    try checkRoom(for: count, at: offset, depth: depth)
    var elements: [PlistValue] = []
    for position in 0..<count {
      elements.append(try value(try reference(at: offset, position), depth: depth + 1))
    }
    return elements
  }

  private mutating func dictionary(_ count: Int, at offset: Int, depth: Int) throws(Fault) -> PlistDictionary
  {
    try checkRoom(for: count, at: offset, depth: depth)
    let values = try range(offset, count: count, size: referenceSize).upperBound
    var entries: [PlistDictionary.Entry] = []
    for position in 0..<count {
      guard case .string(let key) = try value(try reference(at: offset, position), depth: depth + 1) else {
        throw Fault(message: "a key is not text", offset: offset)
      }
      let value = try value(try reference(at: values, position), depth: depth + 1)
      entries.append(PlistDictionary.Entry(key: key, value: value))
    }
    guard let dictionary = PlistDictionary(unsorted: entries, duplicate: { _ in }) else {
      throw Fault(message: "a dictionary has the same key twice", offset: offset)
    }
    return dictionary
  }

  private func checkRoom(for count: Int, at offset: Int, depth: Int) throws(Fault) {
    guard depth < limits.depth else {
      throw Fault(
        message: "arrays and dictionaries are nested more than \(limits.depth) deep", offset: offset)
    }
    _ = try range(offset, count: count, size: referenceSize)
  }

  private func reference(at offset: Int, _ position: Int) throws(Fault) -> Int {
    let place = offset + position * referenceSize
    let reference = try number(at: place, size: referenceSize).clamped
    guard reference < objectCount else {
      throw Fault(message: "a reference leads to an object that does not exist", offset: place)
    }
    return reference
  }

  /// The count of a container: four bits, or, if these are all set, an integer that follows.
  private func count(_ low: Int, at offset: inout Int) throws(Fault) -> Int {
    guard low == 0xF else { return low }
    let marker = try number(at: offset, size: 1)
    guard marker >> 4 == 1, marker & 0xF <= 3 else {
      throw Fault(message: "a count is not a number", offset: offset)
    }
    let size = 1 << Int(marker & 0xF)
    let count = try number(at: offset + 1, size: size).clamped
    offset += 1 + size
    return count
  }

  /// The range of `count` items of `size` bytes. The objects end where the offset table begins.
  private func range(_ offset: Int, count: Int, size: Int) throws(Fault) -> Range<Int> {
    guard offset <= offsetTable, count <= (offsetTable - offset) / size else {
      throw Fault(message: "an object is cut off", offset: offset)
    }
    return offset..<(offset + count * size)
  }

  /// The offset of an object.
  private func offset(of reference: Int) -> Int {
    let place = offsetTable + reference * offsetSize
    return bigEndian(place..<(place + offsetSize)).clamped
  }

  /// A number that is an object or a part of one.
  private func number(at offset: Int, size: Int) throws(Fault) -> UInt64 {
    bigEndian(try range(offset, count: 1, size: size))
  }

  private func bigEndian(_ place: Range<Int>) -> UInt64 { bytes[place].reduce(0) { $0 << 8 | UInt64($1) } }
}

extension UInt64 {
  /// The number as an `Int`. A number that is too large for one is too large for any file.
  fileprivate var clamped: Int { Int(clamping: self) }
}
