import Foundation

/// The C library's search for a byte that is not there, over the file's bytes in memory: about as fast as one core can
/// look at them.
final class MemchrPeer: Peer {
  static let name = "memchr, one core"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    guard workload == .open else { return nil }
    let bytes = try sample.bytes()
    return {
      try seconds(
        of: { bytes.withUnsafeBytes { memchr($0.baseAddress!, 0, $0.count) == nil } },
        check: { try expect($0, "a zero in the file") })
    }
  }
}
