import FileDBPlist

/// A number by which values are found. Equal values have the same hash in every process, and different values hardly
/// ever do. This is FNV-1a with 64 bits over the values' canonical bytes, which differ if the values do.
package struct ValueHash: Hashable, Sendable {
  package private(set) var number: UInt64

  package init(number: UInt64) { self.number = number }

  /// The hash of some values in this order.
  package init(_ values: [PlistValue]) {
    self.init()
    var writer = PlistWriter()
    for value in values {
      writer.removeAll()
      writer.append(value, indentation: TableFile.depthOfFields)
      writer.bytes.withUnsafeBytes { bytes in
        guard let element = CanonicalReader(bytes).element(indentation: TableFile.depthOfFields) else {
          return
        }
        combine(element, in: bytes)
      }
    }
  }

  fileprivate init() { self.init(number: 0xCBF2_9CE4_8422_2325) }

  /// - Parameter element: an element at the depth that it has in a record.
  fileprivate mutating func combine(_ element: CanonicalElement, in bytes: UnsafeRawBufferPointer) {
    combine(element.kind.rawValue)
    for byte in UnsafeRawBufferPointer(rebasing: bytes[element.content]) { combine(byte) }
    combine(0)  // No text contains this byte.
  }

  private mutating func combine(_ byte: UInt8) { number = (number ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

extension EncodedRecord {
  /// The hash of the record's values in these fields, in their order; `nil` if a field is missing.
  /// - Complexity: O(*n*) in the size of the record.
  package func hash(of names: [String]) -> ValueHash? {
    bytes.withUnsafeBytes { all in
      let reader = CanonicalReader(all)
      var found = [CanonicalElement?](repeating: nil, count: names.count)
      var entries = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
      while let (key, element) = entries.next() {
        if let place = names.firstIndex(where: { reader.isText(key, $0) }) { found[place] = element }
      }
      var hash = ValueHash()
      for element in found {
        guard let element else { return nil }
        hash.combine(element, in: all)
      }
      return hash
    }
  }
}
