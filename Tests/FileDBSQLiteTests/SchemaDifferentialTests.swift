import FileDB
import Foundation
import TestSupport
import Testing

/// The same random operations on tables with the same constraints, here and in SQLite: `unique`, and references with
/// each of their rules.
@Suite struct SchemaDifferentialTests {
  private static let constraints = """
    PRAGMA foreign_keys = ON;
    CREATE TABLE groups(id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
    CREATE TABLE boxes(id INTEGER PRIMARY KEY, owner INTEGER
      REFERENCES groups(id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE items(id INTEGER PRIMARY KEY,
      grp TEXT REFERENCES groups(code) DEFERRABLE INITIALLY DEFERRED,
      box INTEGER REFERENCES boxes(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
      inside INTEGER REFERENCES items(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
      name TEXT, UNIQUE(name, grp));
    """

  private func declare(in store: RecordStore) throws {
    try store.table("groups").declare(
      TableSchema(fields: [FieldSchema("code", type: .string, isRequired: true, isUnique: true)]))
    try store.table("boxes").declare(
      TableSchema(fields: [FieldSchema("owner", references: ReferenceRule("groups", onDelete: .clear))]))
    try store.table("items").declare(
      TableSchema(
        fields: [
          FieldSchema("grp", references: ReferenceRule("groups", field: "code")),
          FieldSchema("box", references: ReferenceRule("boxes", onDelete: .cascade)),
          FieldSchema("inside", references: ReferenceRule("items", onDelete: .cascade)), FieldSchema("name"),
        ], unique: [["name", "grp"]]))
  }

  private static let columns = [
    "groups": ["code"], "boxes": ["owner"], "items": ["grp", "box", "inside", "name"],
  ]

  @Test func rulesRefuseAndFollowAsSQLiteDoes() throws {
    try withStore { store in
      var random = SeededRandom.fromEnvironment("schema differential")
      try declare(in: store)
      let database = try Database()
      try database.run(Self.constraints)
      var refused = 0
      for number in 0..<800 {
        let operation = try Operation(on: store, &random)
        let mine = storeError { try operation.run(on: store) }
        let theirs = Self.refusal { _ = try operation.sql.map(database.run) }
        #expect(
          (mine == nil) == (theirs == nil),
          "\(number) \(operation): \(String(describing: mine)) \(String(describing: theirs))")
        guard (mine == nil) == (theirs == nil) else { return }
        if mine != nil { refused += 1 }
        for (table, columns) in Self.columns {
          let records = try store.table(table).snapshot().map { record in
            [record.id.description] + columns.map { record.fields[$0].map(Self.text) ?? "-" }
          }
          let rows = try database.run(
            "SELECT id, \(columns.joined(separator: ", ")) FROM \(table) ORDER BY id"
          ).map { row in row.map { $0 ?? "-" } }
          #expect(records.sorted { Int($0[0])! < Int($1[0])! } == rows, "\(number) \(operation) \(table)")
        }
      }
      #expect(refused > 80 && refused < 720, "\(refused)")
    }
  }

  private static func refusal(_ body: () throws -> Void) -> (any Error)? {
    do {
      try body()
      return nil
    } catch { return error }
  }

  private static func text(_ value: PlistValue) -> String {
    value.string ?? value.integer.map { "\($0)" } ?? "?"
  }

  /// One operation, as it is in both.
  private struct Operation: CustomStringConvertible {
    let description: String
    private let table: String
    private let id: Int64
    private let fields: [String: PlistValue?]
    private let kind: Int

    init(on store: RecordStore, _ random: inout SeededRandom) throws {
      table = ["groups", "boxes", "items", "items"].randomElement(using: &random)!
      let ids = try store.table(table).snapshot().ids.map(\.rawValue)
      kind = ids.isEmpty ? 0 : [0, 0, 0, 1, 1, 2].randomElement(using: &random)!
      id = kind == 0 ? try store.table(table).counter + 1 : ids.randomElement(using: &random)!
      var fields: [String: PlistValue?] = [:]
      for column in SchemaDifferentialTests.columns[table]! where kind == 0 || Bool.random(using: &random) {
        fields[column] = .some(try Self.value(of: column, in: store, &random))
      }
      self.fields = fields
      description = "\(["add", "set", "delete"][kind]) \(table) \(id) \(fields)"
    }

    private static func value(
      of column: String, in store: RecordStore, _ random: inout SeededRandom
    ) throws -> PlistValue? {
      if Int.random(in: 0..<5, using: &random) == 0, column != "code" { return nil }
      func id(_ table: String) throws -> PlistValue {
        let ids = try store.table(table).snapshot().ids.map(\.rawValue) + [99_999]
        return .integer(ids.randomElement(using: &random)!)
      }
      switch column {
      case "owner": return try id("groups")
      case "box": return try id("boxes")
      case "inside": return try id("items")
      case "name": return ["x", "y", "z"].randomElement(using: &random)!
      default: return .string(["a", "b", "c", "d", "e", "f"].randomElement(using: &random)!)
      }
    }

    func run(on store: RecordStore) throws {
      var set = FileDB.Fields()
      for case (let name, let value?) in fields { set[name] = value }
      try store.write { tx in
        switch kind {
        case 0: #expect(try tx[table].add(set).rawValue == id)
        case 1:
          try tx[table].set(set, of: RecordID(rawValue: id)!)
          try tx[table].unset(fields.filter { $0.value == nil }.map(\.key), of: RecordID(rawValue: id)!)
        default: try tx[table].delete(RecordID(rawValue: id)!)
        }
      }
    }

    /// The same in SQL; `nil` if it changes nothing.
    var sql: String? {
      let names = fields.keys.sorted()
      let values = names.map { fields[$0]?.map(Self.literal) ?? "NULL" }
      switch kind {
      case 0:
        let (columns, values) = (["id"] + names, ["\(id)"] + values)
        return """
          INSERT INTO \(table)(\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))
          """
      case 1 where names.isEmpty: return nil
      case 1:
        let sets = zip(names, values).map { "\($0) = \($1)" }
        return "UPDATE \(table) SET \(sets.joined(separator: ", ")) WHERE id = \(id)"
      default: return "DELETE FROM \(table) WHERE id = \(id)"
      }
    }

    private static func literal(_ value: PlistValue) -> String {
      value.string.map { "'\($0)'" } ?? SchemaDifferentialTests.text(value)
    }
  }
}
