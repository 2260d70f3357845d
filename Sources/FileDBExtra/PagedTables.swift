import FileDB
import FileDBCluster
import FileDBCommand

/// Paged tables, which no machine holds.
extension AllExtras {
  func pagedTables(of store: RecordStore) -> [String]? {
    guard let log = store.sharedLog as? PostgresLog else { return [] }
    return try? log.pagedTables()
  }
}
