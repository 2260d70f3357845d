import FileDBPlist

/// Where the parts of a table's canonical file are, so that some records can be read without the others.
package struct TableOffsets: Equatable, Sendable {
  package let counter: Int64
  /// The number of records.
  package let count: Int
  /// How many records lie between two ``chunks``.
  package let chunkLength: Int
  /// Where each chunk of records begins, and where the last one ends. Empty in a table without records.
  package let chunks: [Int]
  /// Where the lines of the index map are.
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
