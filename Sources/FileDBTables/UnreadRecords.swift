import FileDBPlist

/// The records of a table that stay in its file until somebody asks for them.
///
/// These functions do not throw, because looking at a record does not. The code that creates an object of this type
/// says what happens if the file has changed and the records are gone.
package protocol UnreadRecords: AnyObject, Sendable {
  var count: Int { get }

  /// The number of records in each chunk, at least 1. The last chunk may have fewer.
  var chunkLength: Int { get }

  /// The records of a chunk, in order.
  /// - Parameter number: the number of the chunk, from 0.
  func records(ofChunk number: Int) -> [EncodedRecord]

  /// The index of the record with this id.
  func index(of id: AnyRecordID) -> Int?

  /// The ids of the records that have these values in these fields, at most `limit` of them. It uses the lookup that is
  /// kept beside the file. If there is none, it reads all records.
  func ids(where names: [String], are values: [PlistValue], atMost limit: Int) -> [AnyRecordID]
}

/// A chunk of records that are still in their file.
package struct UnreadChunk: Sendable {
  package let all: any UnreadRecords
  /// Counted from 0.
  package let number: Int

  package var records: [EncodedRecord] { all.records(ofChunk: number) }
}
