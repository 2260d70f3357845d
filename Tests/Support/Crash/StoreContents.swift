import FileDB
import FileDBStorage
import Foundation

/// All that a store holds at one moment, as a reader sees it.
package struct StoreContents: Equatable, Sendable {
  package enum Table: Equatable, Sendable {
    case rows([EncodedRecord], counter: Int64)
    /// A table that was dropped, whose ids are not given again.
    case dropped(counter: Int64)
    /// A file that only a repair can make whole, such as it is.
    case damaged([UInt8])
  }

  package var tables: [String: Table] = [:]
  /// What the tables declare.
  package var schemas: [String: TableSchema] = [:]

  package init(of store: RecordStore) throws {
    let names = try store.tableNames
    for name in Self.namesOfWorkloads where !names.contains(name) {
      let counter = try store.table(name).lastSnapshot.counter
      if counter > 0 { tables[name] = .dropped(counter: counter) }
    }
    for name in names {
      do {
        let rows = try store.table(name).lastSnapshot
        let records = rows.map { EncodedRecord(id: $0.id.plain, fields: $0.fields) }
        tables[name] = .rows(records, counter: rows.counter)
        schemas[name] = try rows.schema
      } catch let error as StoreError where Self.damage.contains(error.code) {
        tables[name] = .damaged(try store.disk.read(store.url(of: name).path).bytes)
      }
    }
  }

  /// The tables that workloads drop are among these.
  private static let namesOfWorkloads = ["a", "b", "c", "d"]

  /// What only a repair can make whole: a broken file, or one that an editor saved while commits waited for it.
  private static let damage: Set = [
    StoreError.Code.damagedTable, StoreError.Code.notATable, StoreError.Code.conflict,
  ]

  var isSound: Bool {
    tables.values.allSatisfy { table in
      if case .damaged = table { false } else { true }
    }
  }
}

extension StoreContents: CustomStringConvertible {
  package var description: String {
    let texts = tables.sorted { $0.key < $1.key }.map { name, table in
      switch table {
      case .rows(let records, let counter):
        let ids = records.map { "\($0.id)" }.joined(separator: " ")
        return
          "\(name): records [\(ids)], counter \(counter), last \(records.last?.fields.description.prefix(80) ?? "none")"
      case .dropped(let counter): return "\(name): dropped, counter \(counter)"
      case .damaged(let bytes): return "\(name): damaged, \(bytes.count) bytes"
      }
    }
    let declared = schemas.sorted { $0.key < $1.key }.map { "\($0.key) declares \($0.value)" }
    return texts.isEmpty ? "no tables" : (texts + declared).joined(separator: "; ")
  }
}
