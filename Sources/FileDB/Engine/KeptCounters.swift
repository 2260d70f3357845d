import FileDBPlist
import FileDBStorage
import FileDBTables

/// The counters of tables that have no file. With them, a table that is dropped and created again gives no id twice.
///
/// A checkpoint writes them before it removes a table's file. If a table has a file, the counter in the file is the one
/// that counts.
extension StoreFolder {
  private var countersFile: String { own(.counters) }

  /// Durably keeps the counters of tables whose files are about to be removed.
  func keepCounters(_ counters: [TableKey: Int64]) throws(StoreError) {
    let kept = try keptCounters()
    // FileDB creates no table of a name that cannot be kept, so it cannot give an id twice there.
    let new = kept.merging(counters) { $1 }.filter { $0.value > 0 && TableNameRule.canBeKept($0.key.text) }
    if new == kept {
      // The process that wrote the counters may have died before it synced the name.
      if counters.contains(where: { $0.value > 0 }) { try disk.syncFolder(ownFolder) }
      return
    }
    var list = PlistDictionary()
    for (table, counter) in new { list[table.text] = .string(String(counter)) }
    let document: [UInt8]
    do throws(PlistError) {
      document = try PlistWriter.document(.dict(list))
    } catch {
      throw StoreError(error, file: countersFile, table: nil)
    }
    try disk.replace(countersFile, with: document)
  }

  /// The highest id that was ever given in each table that has no file. A table that is missing here gave none.
  /// - Throws: ``StoreError/Code/damagedTable`` or ``StoreError/Code/notATable`` if the counters cannot be read.
  func keptCounters() throws(StoreError) -> [TableKey: Int64] {
    if try disk.status(countersFile) == nil { return [:] }
    let bytes = try disk.read(countersFile).bytes
    do throws(PlistError) {
      var counters: [TableKey: Int64] = [:]
      for entry in try PlistParser.parse(bytes).dict ?? [:] {
        counters[TableKey(entry.key)] = entry.value.string.flatMap(AnyRecordID.init)?.rawValue
      }
      return counters
    } catch {
      throw StoreError(error, file: countersFile, table: nil)
    }
  }
}
