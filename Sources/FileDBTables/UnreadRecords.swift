import FileDBPlist

/// The records of a table that stay in its file until somebody asks for them.
///
/// Its verbs cannot fail, since looking at a record cannot. Who makes one says what is to happen if the file has
/// changed and the records are gone.
package protocol UnreadRecords: AnyObject, Sendable {
  var count: Int { get }

  /// How many records each chunk has, but for the last, which may have fewer. At least 1.
  var chunkLength: Int { get }

  /// The records of a chunk, in order.
  /// - Parameter number: of the chunk, from 0.
  func records(ofChunk number: Int) -> [EncodedRecord]

  /// The index of the record with this id.
  func index(of id: AnyRecordID) -> Int?

  /// The ids of the records that have these values in these fields, or of so many of them. It asks what is kept beside
  /// the file; if nothing is, it reads all records.
  func ids(where names: [String], are values: [PlistValue], atMost limit: Int) -> [AnyRecordID]
}

/// A chunk of records that are still in their file.
package struct UnreadChunk: Sendable {
  package let all: any UnreadRecords
  /// From 0.
  package let number: Int

  package var records: [EncodedRecord] { all.records(ofChunk: number) }
}
