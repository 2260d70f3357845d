/// Where the parts of a table are in its canonical file. With this, some records can be read without the others.
package struct TableOffsets: Equatable, Sendable {
  /// The number of records.
  package let count: Int
  /// The number of records in each chunk.
  package let chunkLength: Int
  /// The beginning of each chunk of records, and the end of the last one. Empty for a table without records.
  package let chunks: [Int]
  /// The lines of the index map.
  package let indexMap: Range<Int>

  package init(count: Int, chunkLength: Int, chunks: [Int], indexMap: Range<Int>) {
    (self.count, self.chunkLength) = (count, chunkLength)
    (self.chunks, self.indexMap) = (chunks, indexMap)
  }

  /// The number of offsets that ``chunks`` has for a table with records.
  /// - Precondition: both numbers are at least 1.
  package static func chunkBoundCount(count: Int, chunkLength: Int) -> Int { (count - 1) / chunkLength + 2 }

  /// Whether a file of this size may have its parts there. If so, it has at least one record, and all parts follow one
  /// another in the file.
  package func fit(fileSize: Int) -> Bool {
    guard (1...max(fileSize, 1)).contains(count), chunkLength > 0,
      chunks.count == Self.chunkBoundCount(count: count, chunkLength: chunkLength)
    else { return false }
    let bounds = [0] + chunks + [indexMap.lowerBound, indexMap.upperBound, fileSize]
    return zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// Everything in the file but the records and the entries of the index map, in three pieces.
  /// - Precondition: ``fit(fileSize:)``.
  package func rest(fileSize: Int) -> [Range<Int>] {
    [0..<chunks[0], chunks[chunks.count - 1]..<indexMap.lowerBound, indexMap.upperBound..<fileSize]
  }
}
