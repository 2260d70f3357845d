@_exported import FileDB
import FileDBExchange
import Foundation
import Synchronization

/// The folder of the tables, in ``wgPaths/databaseDirectory()``.
public let kFileDbFolder = "wgFileDb"
/// The key of the highest id ever given, in the root of a table's file.
public let kFileDbAIKey = "autoincrement"
/// The key of the items, in the root of a table's file.
public let kFileDbDataKey = "data"
/// The key of the index map, in the root of a table's file. The map leads from an id to an index.
public let kFileDbIndexKey = "index"
/// The field of an item that holds its id, as a decimal string.
public let kMainIdKey = "wgFileDbSecretId"

// swift-format-ignore: TypeNamesShouldBeCapitalized
/// The class wgFileDb of 2010, for code that was written for it. Each function has the name under which Swift imports
/// the original, and uses a ``RecordStore``.
///
///     let id = try wgFileDb.addItem(toTop: ["title": "Buy milk"], intoDb: "todo")
///     let item = try wgFileDb.getItem(id, inDb: "todo")
///     try wgFileDb.moveTableItem(IndexPath(indexes: [0, 3]), to: IndexPath(indexes: [0, 0]), inDb: "todo")
///
/// It differs from the original in three ways:
///
/// - **Errors.** The original ignored errors; these functions throw ``StoreError``. An unknown id throws
///   ``StoreError/Code/recordNotFound``; the original used the first item instead, and could delete it.
/// - **Files.** A table that the original wrote keeps its file name without an extension. A new table is `NAME.plist`,
///   so get its path from ``getPathToDb(_:)``. Only that function and those that write create a table; the original did
///   so on every read.
/// - **Items.** The returned items hold strings, `NSNumber`, `Date`, `Data`, arrays and dictionaries, with the id under
///   ``kMainIdKey``. Items that you pass in may hold the same types, or any Swift number. A `Date` loses its fraction
///   of a second. Anything else, including `nil` and `NSNull`, throws ``StoreError/Code/unrepresentableValue``.
///   Changing a returned item does not change the table.
///
/// You may call every function from any thread. Each function sees what other processes wrote. Reading costs a few
/// system calls and O(*n*) in the returned items; if the table's file changed, O(*n*) in the table's items. Writing
/// costs as much as ``RecordStore/write(_:)``.
public enum wgFileDb {
  private static let stores = Mutex<[String: RecordStore]>([:])

  /// The store that these functions use, for code that moves away from them. There is one for each ``wgPaths/root``.
  /// - Throws: as ``wgPaths/databaseDirectory()``.
  public static var store: RecordStore {
    get throws {
      let folder = try wgPaths.paths.fileDB
      return try stores.withLock { stores in
        if let known = stores[folder.path] { return known }
        let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .everyCommit))
        stores[folder.path] = store
        return store
      }
    }
  }

  /// `getId:`: the id of an item; 0 for an item without an id. No record has the id 0.
  public static func getId(_ item: [String: Any]) -> Int {
    let id = try? ItemConversion.id(of: item)
    return id.map { Int($0.rawValue) } ?? 0
  }

  /// `getPathToDb:`: the path of the table's file. If the file does not exist, this creates it without items.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)`` and ``RecordStore/write(_:)``.
  @discardableResult
  public static func getPathToDb(_ dbName: String) throws -> String {
    let table = try table(dbName)
    if try !table.exists {
      try table.store.write { tx in
        if try !tx[table.name].snapshot().exists { try tx[table.name].create() }
      }
    }
    return try table.url.path
  }

  /// `isDatabase:`: whether the table has a file.
  /// - Throws: ``StoreError/Code/invalidTableName``, ``StoreError/Code/ambiguousTable``.
  public static func isDatabase(_ dbName: String) throws -> Bool {
    FileInfo.isFile(try store.url(of: dbName))
  }

  /// `deleteDb:`: deletes the table's file, if there is one. A new table of this name starts again at 1.
  /// - Returns: true.
  /// - Throws: as ``getPathToDb(_:)``.
  @discardableResult
  public static func delete(_ dbName: String) throws -> Bool {
    let table = try table(dbName)
    try table.store.write { tx in
      guard try tx[table.name].snapshot().exists else { return }
      try tx[table.name].truncate()
      try tx[table.name].drop()
    }
    return true
  }

  /// `truncateDb:`: removes every item and sets the counter to 0. If the table does not exist, this creates it.
  /// - Returns: true.
  /// - Throws: as ``getPathToDb(_:)``.
  @discardableResult
  public static func truncate(_ dbName: String) throws -> Bool {
    let table = try table(dbName)
    try table.store.write { tx in
      if try tx[table.name].snapshot().exists {
        try tx[table.name].truncate()
      } else {
        try tx[table.name].create()
      }
    }
    return true
  }

  /// `getAutoincrementNumberForDb:`: the highest id ever given; 0 if the table does not exist.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public static func getAutoincrementNumber(forDb dbName: String) throws -> Int {
    Int(try table(dbName).counter)
  }

  /// `getItemsFromDb:`: all items in their order. If the table does not exist, the result is empty.
  /// - Throws: as ``getItem(_:inDb:)``.
  public static func getItemsFromDb(_ dbName: String) throws -> [[String: Any]] {
    try table(dbName).snapshot().map(ItemConversion.item)
  }

  /// `saveFullData:toDb:`: replaces the items of the table by `arr`. An item with an id keeps it. An item without an id
  /// gets a new one, above all others.
  /// - Throws: ``StoreError/Code/duplicateID``; ``StoreError/Code/invalidValue`` if an id is not a whole number;
  ///   otherwise as ``addItem(toBottom:intoDb:)``. Then the table stays as it was.
  public static func saveFullData(_ arr: [[String: Any]], toDb dbName: String) throws {
    let records = try arr.map {
      IdentifiedValue(try ItemConversion.record($0), id: try ItemConversion.id(of: $0))
    }
    try table(dbName).replaceAll(identified: records)
  }

  /// `getNumberOfItemsInDb:`: the number of items; 0 if the table does not exist.
  /// - Throws: as ``RecordStore/table(_:)-(TableName<_>)``.
  public static func getNumberOfItems(inDb dbName: String) throws -> Int { try table(dbName).count }

  /// `getItem:inDb:`: the item with this id.
  /// - Throws: ``StoreError/Code/recordNotFound``; ``StoreError/Code/unrepresentableValue`` for an item with two field
  ///   names that differ only in how an accent is written, since a Swift dictionary cannot hold both; and as
  ///   ``RecordStore/table(_:)-(TableName<_>)``.
  public static func getItem(_ idItem: Int, inDb dbName: String) throws -> [String: Any] {
    try ItemConversion.item(table(dbName).snapshot().record(with: ItemConversion.id(idItem, table: dbName)))
  }

  /// `addItemToBottom:intoDb:`: adds an item below all others. If the item already has an id, it is ignored.
  /// - Returns: the new item's id.
  /// - Throws: ``StoreError/Code/unrepresentableValue``, and as ``getPathToDb(_:)``.
  @discardableResult
  public static func addItem(toBottom item: [String: Any], intoDb dbName: String) throws -> Int {
    Int(try table(dbName).add(ItemConversion.record(item), at: .bottom).rawValue)
  }

  /// `addItemToTop:intoDb:`: adds an item above all others; otherwise as ``addItem(toBottom:intoDb:)``.
  @discardableResult
  public static func addItem(toTop item: [String: Any], intoDb dbName: String) throws -> Int {
    Int(try table(dbName).add(ItemConversion.record(item), at: .top).rawValue)
  }

  /// `deleteItem:fromDb:`: deletes an item. No other item gets its id.
  /// - Throws: ``StoreError/Code/recordNotFound``, ``StoreError/Code/tableNotFound``, and as ``getPathToDb(_:)``.
  public static func deleteItem(_ idItem: Int, fromDb dbName: String) throws {
    try table(dbName).delete(ItemConversion.id(idItem, table: dbName))
  }

  /// `updateItem:withData:inDb:`: gives the item these fields and no others. It keeps its id, whatever id `item` has.
  /// - Throws: ``StoreError/Code/recordNotFound``, and as ``addItem(toBottom:intoDb:)``.
  public static func updateItem(_ idItem: Int, withData item: [String: Any], inDb dbName: String) throws {
    try table(dbName).update(ItemConversion.id(idItem, table: dbName), to: ItemConversion.record(item))
  }

  /// `moveTableItem:to:inDb:`: moves the item at one index to another. The second is its index afterwards. Pass the
  /// index paths that UITableView passes to `tableView(_:moveRowAt:to:)`: the last number of an index path is the
  /// index.
  /// - Throws: ``StoreError/Code/indexOutOfRange``, for an empty index path too, and as ``getPathToDb(_:)``.
  public static func moveTableItem(
    _ fromIndexPath: IndexPath, to toIndexPath: IndexPath, inDb dbName: String
  ) throws {
    guard let row = fromIndexPath.last, let newIndex = toIndexPath.last else {
      throw StoreError(.indexOutOfRange, "an empty index path has no index", table: dbName)
    }
    try table(dbName).move(fromIndex: row, toIndex: newIndex)
  }

  /// `duplicateItemToBottom:inDb:`: copies an item. The copy comes below all others.
  /// - Returns: the copy's id.
  /// - Throws: ``StoreError/Code/recordNotFound``, and as ``getPathToDb(_:)``.
  @discardableResult
  public static func duplicateItem(toBottom idItem: Int, inDb dbName: String) throws -> Int {
    Int(try table(dbName).duplicate(ItemConversion.id(idItem, table: dbName), to: .bottom).rawValue)
  }

  /// `duplicateItemToTop:inDb:`: copies an item. The copy comes above all others.
  /// - Returns: the copy's id.
  /// - Throws: as ``duplicateItem(toBottom:inDb:)``.
  @discardableResult
  public static func duplicateItem(toTop idItem: Int, inDb dbName: String) throws -> Int {
    Int(try table(dbName).duplicate(ItemConversion.id(idItem, table: dbName), to: .top).rawValue)
  }

  /// `sortAscendingByKey:inDb:`: the items, ordered by a field as ``SortKey`` describes, with strings by their bytes.
  /// If the key is ``kMainIdKey``, they are ordered by id. The table keeps its order. In the original, this function
  /// was unfinished and returned the items unsorted.
  /// - Throws: as ``getItem(_:inDb:)``.
  public static func sortAscending(byKey key: String, inDb dbName: String) throws -> [[String: Any]] {
    let rows = try table(dbName).snapshot()
    let sorted = try key == kMainIdKey ? rows.sorted { $0.id < $1.id } : rows.sorted(by: [.ascending(key)])
    return try sorted.map(ItemConversion.item)
  }

  /// `sortDescendingByKey:inDb:`: as ``sortAscending(byKey:inDb:)``, but in descending order. Items without the key
  /// still come last.
  public static func sortDescending(byKey key: String, inDb dbName: String) throws -> [[String: Any]] {
    let rows = try table(dbName).snapshot()
    let sorted = try key == kMainIdKey ? rows.sorted { $0.id > $1.id } : rows.sorted(by: [.descending(key)])
    return try sorted.map(ItemConversion.item)
  }

  /// The present table on the disk: the original read its file at each call.
  private static func table(_ name: String) throws -> RecordTable<Fields> {
    let store = try store
    let table = try store.table(name)
    try store.refresh()
    return table
  }
}
