/// What can make a frame's payload again and again, a piece at a time: one that is as long as a table need never be in
/// memory as a whole.
package protocol PayloadSource: Sendable {
  /// Hands out the payload from its first to its last byte, the same bytes each time.
  func writePayload<Failure>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure)
}

/// The payload of a frame that is about to be written.
package struct JournalPayload: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    /// More than one piece. They are made once for ``JournalPayload/count`` and ``JournalPayload/checksum``, which stand
    /// before them in the frame, and once to be written.
    case pieces(any PayloadSource)
  }

  /// In bytes.
  package let count: Int
  let checksum: UInt32
  let content: Content

  package init(_ bytes: consuming [UInt8]) {
    count = bytes.count
    checksum = Checksum.of(bytes)
    content = .bytes(bytes)
  }

  /// - Complexity: O(*n*) in the bytes of the payload. One of a single piece is kept, and not made again.
  package init(of source: some PayloadSource) {
    var first: [UInt8] = []
    var checksum = Checksum()
    var count = 0
    source.writePayload { piece in
      if count == 0 { first = piece }
      piece.withUnsafeBytes { checksum.update($0) }
      count += piece.count
    }
    self.count = count
    self.checksum = checksum.value
    content = first.count == count ? .bytes(first) : .pieces(source)
  }
}
