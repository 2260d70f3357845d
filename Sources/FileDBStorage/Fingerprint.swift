/// A number that tells one content from another, but for a chance of 1 in 2^64. Against accidents, not against malice.
/// - Complexity: O(*n*), some gigabytes a second.
package func fingerprint(of bytes: [UInt8]) -> UInt64 {
  bytes.withUnsafeBytes { bytes in
    var hash = UInt64(bytes.count)
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    let whole = bytes.count & ~7
    for offset in stride(from: 0, to: whole, by: 8) {
      mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    for offset in whole..<bytes.count { mix(UInt64(bytes[offset])) }
    return hash
  }
}
