// Testable, for how a dictionary is made of many entries is nobody else's matter.
@testable import FileDBPlist

extension PlistValue {
  /// This value with some of its parts changed. Each change takes four bytes: which part, how, and a value.
  ///
  /// Bytes that are changed at random are hardly ever a property list; these are always one.
  public func changed(by changes: [UInt8]) -> PlistValue {
    var result = self
    for start in stride(from: 0, to: changes.count - 3, by: 4) {
      let count = result.partCount
      // Copies of copies would soon fill the memory.
      if count > 400 { break }
      var place = (Int(changes[start]) << 8 | Int(changes[start + 1])) % count
      var other = Int(changes[start + 3]) % count
      let copy = result.part(&other) ?? self
      result =
        result.replacing(&place) { $0.changed(changes[start + 2], changes[start + 3], copy) } ?? result
    }
    return result
  }

  /// The file of this value, however deep it is.
  public var document: [UInt8] {
    var writer = PlistWriter()
    writer.append(PlistWriter.header)
    writer.append(self, indentation: 0)
    writer.append(PlistWriter.footer)
    return writer.bytes
  }

  /// How many values this is, with those inside.
  private var partCount: Int {
    switch self {
    case .array(let elements): elements.reduce(1) { $0 + $1.partCount }
    case .dict(let entries): entries.reduce(1) { $0 + $1.value.partCount }
    default: 1
    }
  }

  private func part(_ place: inout Int) -> PlistValue? {
    if place == 0 { return self }
    place -= 1
    let inside = array ?? dict?.map(\.value) ?? []
    for value in inside { if let part = value.part(&place) { return part } }
    return nil
  }

  /// - Parameter place: counts the parts down to the one that is replaced, and below.
  private func replacing(_ place: inout Int, _ change: (PlistValue) -> PlistValue?) -> PlistValue? {
    place -= 1
    if place == -1 { return change(self) }
    switch self {
    case .array(let elements): return .array(elements.compactMap { $0.replacing(&place, change) })
    case .dict(let entries):
      return .dict(
        PlistDictionary(
          lastOf: entries.compactMap { entry in
            entry.value.replacing(&place, change).map { PlistDictionary.Entry(key: entry.key, value: $0) }
          }))
    default: return self
    }
  }

  /// - Returns: `nil` for a part that is removed.
  private func changed(_ how: UInt8, _ value: UInt8, _ copy: PlistValue) -> PlistValue? {
    let number = Int64(value)
    switch how % 16 {
    case 0: return nil
    case 1: return copy
    case 2: return .integer(number)
    case 3: return .string("\(number)")
    case 4: return .integer(.max - number)
    case 5: return .string("\(Int64.max - number)")
    case 6: return .bool(value & 1 == 1)
    case 7: return .string("\(number) 1-\(number)")
    case 8: return .array([self, copy])
    case 9: return .dict(["a": copy])
    case 10: return .real(Double(value) / 3)
    case 11: return .integer(-number)
    case 12:
      return dict.map { .dict($0.renaming(Int(value))) } ?? string.map {
        .string(($0 + " " + $0).prefix(2_000).description)
      } ?? self
    case 13:
      return array.map { .array($0 + [copy]) } ?? dict.map { .dict($0.with(copy, at: Int(value))) } ?? copy
    default: return .string(text(changedAt: Int(value), how))
    }
  }

  /// The text with one of its bytes replaced by another that is likely in a list of ids, or by its neighbour.
  private func text(changedAt place: Int, _ how: UInt8) -> String {
    var bytes = Array((string ?? "1 2").utf8)
    let likely = Array("0123456789 -.\"".utf8)
    if bytes.isEmpty { return "-" }
    let byte = likely[Int(how) / 16 % likely.count]
    if how % 2 == 0 { bytes[place % bytes.count] = byte } else { bytes.insert(byte, at: place % bytes.count) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension PlistDictionary {
  /// With one value under the name of another one.
  fileprivate func renaming(_ place: Int) -> PlistDictionary {
    guard count > 1 else { return self }
    return with(self[place % count].value, at: place / count % count)
  }

  fileprivate func with(_ value: PlistValue, at place: Int) -> PlistDictionary {
    var result = self
    result[isEmpty ? "a" : self[place % count].key] = value
    return result
  }
}
