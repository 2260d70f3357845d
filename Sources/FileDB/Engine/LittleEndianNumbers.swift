/// Reads one number after another.
struct NumberReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next number of 64 bits; `nil` if the bytes end.
  mutating func next() -> UInt64? { take(8) }

  /// The next number of 64 bits if an `Int` can hold it.
  mutating func nextInt() -> Int? { next().flatMap { Int(exactly: $0) } }

  /// The next number of 32 bits.
  mutating func nextHalf() -> UInt32? { take(4).map { UInt32($0) } }

  private mutating func take(_ count: Int) -> UInt64? {
    guard rest.count >= count else { return nil }
    defer { rest.removeFirst(count) }
    return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension [UInt8] {
  mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
