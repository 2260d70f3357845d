import FileDBPlist

/// Where the parts of a table are in its canonical file. With this, some records can be read without the others.
package struct TableOffsets: Equatable, Sendable {
  package let counter: Int64
  /// The number of records.
  package let count: Int
  /// The number of records in each chunk.
  package let chunkLength: Int
  /// The beginning of each chunk of records, and the end of the last one. Empty for a table without records.
  package let chunks: [Int]
  /// The lines of the index map.
  package let indexMap: Range<Int>
  package let foreignKeys: PlistDictionary

  package init(
    counter: Int64, count: Int, chunkLength: Int, chunks: [Int], indexMap: Range<Int>,
    foreignKeys: PlistDictionary
  ) {
    (self.counter, self.count) = (counter, count)
    (self.chunkLength, self.chunks) = (chunkLength, chunks)
    (self.indexMap, self.foreignKeys) = (indexMap, foreignKeys)
  }
}
