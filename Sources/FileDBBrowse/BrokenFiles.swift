import FileDB
import FileDBEssentials
import Synchronization

/// The files in the folder of a shared store that cannot be read. Each is read once, and again when it has changed.
final class BrokenFiles: Sendable {
  private struct Look {
    let modified: Date
    let size: UInt64
    let keptCount: Int?
  }

  private let looks = Mutex<[String: Look]>([:])

  /// The number of records that `filedb repair` finds in the file of a table; `nil` if the file can be read, or if
  /// nothing in it looks like a table.
  func keptCount(of table: String, in store: RecordStore) -> Int? {
    guard let path = try? store.url(of: table).path,
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let modified = attributes[.modificationDate] as? Date, let size = attributes[.size] as? UInt64
    else { return nil }
    return looks.withLock { looks in
      if let look = looks[table], look.modified == modified, look.size == size { return look.keptCount }
      let count = Self.readKeptCount(of: table, in: store)
      looks[table] = Look(modified: modified, size: size, keptCount: count)
      return count
    }
  }

  /// The store itself reads the shared store, and not the files that people see.
  private static func readKeptCount(of table: String, in store: RecordStore) -> Int? {
    guard let files = try? RecordStore(at: store.url, options: store.options),
      (try? files.table(table).snapshot()) == nil
    else { return nil }
    return (try? files.repairPlan(for: table))?.recordCount
  }
}
