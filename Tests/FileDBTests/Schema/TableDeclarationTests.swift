import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct TableDeclarationTests {
  struct Folder: Codable, Sendable { var name: String }

  struct Note: Codable, Sendable {
    var title: String
    var stars: Int?
    var due: Date?
    var folder: RecordID<Folder>?
    var tags: [String] = []
    var isDone = false

    enum CodingKeys: String, CodingKey {
      case title = "t"
      case stars, due, folder, tags
      case isDone = "done"
    }
  }

  static func notes(version: Int64 = 0, most: Int = 5) -> TableName<Note> {
    TableName(
      "notes",
      declaring: TableDeclaration(
        .field(\.title, isRequired: true, isUnique: true), .field(\.stars, maximum: most), .field(\.due),
        .field(\.folder, references: ReferenceRule(TableName<Folder>("folders"), onDelete: .clear)),
        .field(\.tags), .field(\.isDone, "done"), unique: [["stars", "due"]], version: version))
  }

  @Test func firstWriteDeclaresByTheCodedNames() throws {
    try withStore(.disk) { store in
      let folder = try store.table(TableName<Folder>("folders")).add(Folder(name: "a"))
      let notes = try store.table(Self.notes())
      #expect(try notes.snapshot().schema == nil)
      let id = try notes.add(Note(title: "A", folder: folder))
      let schema = try #require(try store.table("notes").snapshot().schema)
      #expect(schema.fields.map(\.name) == ["t", "stars", "due", "folder", "tags", "done"])
      #expect(schema.fields.map(\.type) == [.string, .integer, .date, .integer, .json, .bool])
      #expect(storeError { try notes.add(Note(title: "A")) }?.field == "t")
      #expect(storeError { try notes.update(id) { $0.stars = 6 } }?.code == .valueNotAllowed)
      try store.table("folders").deleteAll()
      #expect(try notes.value(of: id).folder == nil)
    }
  }

  @Test func differenceIsAnErrorAndAHigherVersionChangesTheFile() throws {
    try withStore { store in
      try store.table(Self.notes()).add(Note(title: "A", stars: 5))
      let other = try store.reopened()
      let error = storeError { try other.table(Self.notes(most: 4)).add(Note(title: "B")) }
      #expect(error?.code == .schemaDiffers && error?.field == "stars" && error?.table == "notes")
      // Reading does not compare the declarations.
      #expect(try other.table(Self.notes(most: 4)).count == 1)
      #expect(
        storeError { try store.reopened().table(Self.notes(version: 1, most: 4)).add(Note(title: "B")) }?.code
          == .valueNotAllowed)
      try store.table("notes").set(["stars": 4], of: 1)
      try store.reopened().table(Self.notes(version: 1, most: 4)).add(Note(title: "B"))
      try store.refresh()
      #expect(try store.table("notes").snapshot().schema?.version == 1)
      let old = storeError { try store.reopened().table(Self.notes()).add(Note(title: "C")) }
      #expect(old?.code == .newerSchema)
      #expect(try store.reopened().table(Self.notes()).count == 2)
    }
  }

  struct OldNote: Codable, Sendable { var t: String }

  /// A program may declare a table twice. Whichever way a declaration reaches the table, the higher version counts.
  enum Way: CaseIterable {
    case tables, transactions, oneTransaction

    /// Adds a note by each of two names.
    func add(_ old: TableName<OldNote>, _ new: TableName<Note>, to store: RecordStore) throws {
      switch self {
      case .tables:
        try store.table(old).add(OldNote(t: "A"))
        try store.table(new).add(Note(title: "B", stars: 6))
      case .transactions:
        try store.write { tx in try tx[old].add(OldNote(t: "A")) }
        try store.write { tx in try tx[new].add(Note(title: "B", stars: 6)) }
      case .oneTransaction:
        try store.write { tx in
          try tx[old].add(OldNote(t: "A"))
          try tx[new].add(Note(title: "B", stars: 6))
        }
      }
    }
  }

  @Test(arguments: Way.allCases) func secondDeclarationOfTheSameProgramCounts(_ way: Way) throws {
    let old = TableName<OldNote>("notes", declaring: TableDeclaration(.field(\.t)))
    try withStore { store in
      try way.add(old, Self.notes(version: 1, most: 6), to: store)
      #expect(try store.table("notes").snapshot().schema?.version == 1)
      #expect(storeError { try store.table(old).add(OldNote(t: "C")) }?.code == .newerSchema)
    }
    try withStore { store in
      let error = storeError { try way.add(old, Self.notes(most: 6), to: store) }
      #expect(error?.code == .schemaDiffers && error?.table == "notes")
    }
  }

  @Test func higherVersionOfTheSameTypeChangesTheFileInTheSameProgram() throws {
    try withStore { store in
      let notes = try store.table(Self.notes())
      try notes.add(Note(title: "A"))
      try store.table(Self.notes(version: 1, most: 6)).add(Note(title: "B", stars: 6))
      try store.write { tx in try tx[Self.notes(version: 2, most: 7)].add(Note(title: "C", stars: 7)) }
      #expect(try store.table("notes").snapshot().schema?.version == 2)
      #expect(storeError { try notes.add(Note(title: "D")) }?.code == .newerSchema)
      #expect(
        storeError { try store.table(Self.notes(version: 2, most: 8)).add(Note(title: "D")) }?.code
          == .schemaDiffers)
    }
  }

  @Test func programWithALowerVersionReadsTheRecordsThatFitItsType() throws {
    try withStore { store in
      let old = try store.table(TableName<OldNote>("notes", declaring: TableDeclaration(.field(\.t))))
      try old.add(OldNote(t: "A"))
      try store.table("notes").declare(TableSchema(version: 1))
      try store.table("notes").add(["title": "B"])
      let error = storeError { try old.add(OldNote(t: "C")) }
      #expect(error?.code == .newerSchema)
      #expect(error?.message.hasSuffix("it can read the records that still fit its type") == true)
      let read = try old.snapshot().values()
      #expect(read.decoded.map(\.t) == ["A"] && read.faults.map(\.record) == [2])
    }
  }

  @Test func migrationRunsBeforeTheNewRules() throws {
    struct Film: Codable, Sendable {
      var title: String
      var year: Int?
    }
    try withStore { store in
      try store.table("films").add(["title": "A"])
      let name = TableName<Film>(
        "films",
        declaring: TableDeclaration(.field(\.year, isRequired: true), version: 2) { table, version in
          #expect(version == 0)
          for record in try table.snapshot() where record.fields["year"] == nil {
            try table.set(["year": 1900], of: record.id)
          }
        })
      try store.table(name).add(Film(title: "B", year: 2000))
      #expect(try store.table("films").snapshot().map { $0.fields["year"] } == [1900, 2000])
      #expect(try store.table("films").snapshot().schema?.version == 2)
    }
  }

  @Test func versionedValuesBringTheirVersion() throws {
    struct Note: VersionedValue {
      var title: String
      static let migrations: [ValueMigration] = [.rename("name", to: "title")]
    }
    try withStore { store in
      try store.table("notes").add(["name": "old"])
      let name = TableName<Note>("notes", declaring: TableDeclaration(.field(\.title, isRequired: true)))
      try store.table(name).add(Note(title: "new"))
      #expect(try store.table("notes").snapshot().map { $0.fields["title"] } == ["old", "new"])
      #expect(try store.table("notes").snapshot().schema?.version == 1)
    }
  }

  @Test func transactionThatFailsDeclaresNothing() throws {
    struct Stop: Error {}
    try withStore { store in
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx[Self.notes()].add(Note(title: "A"))
          throw Stop()
        }
      }
      #expect(try !store.table("notes").exists)
      try store.write { tx in
        try? store.write { inner in
          try inner[Self.notes()].add(Note(title: "A"))
          throw Stop()
        }
        try tx[Self.notes()].add(Note(title: "B"))
      }
      #expect(try store.table("notes").snapshot().schema != nil)
    }
  }

  struct Product: Codable, Sendable, Equatable {
    enum Kind: String, Codable, CaseIterable, Sendable { case book, film }

    var price = 1.5
    var kind: Kind?
    var since: Date?
  }

  /// Bounds, defaults and allowed values have the property's own type.
  @Test func rulesTakeValuesOfThePropertysType() throws {
    try withStore { store in
      let start = Date(timeIntervalSince1970: 0)
      let products = try store.table(
        TableName<Product>(
          "products",
          declaring: TableDeclaration(
            .field(\.price, minimum: 0, maximum: 100), .field(\.kind, allowedValues: [.book]),
            .field(\.since, minimum: start, defaultValue: start))))
      let id = try products.add(Product(price: 0, kind: .book))
      #expect(try products.record(with: id).value == Product(price: 0, kind: .book, since: start))
      #expect(storeError { try products.add(Product(price: -1)) }?.code == .valueNotAllowed)
      #expect(storeError { try products.add(Product(kind: .film)) }?.field == "kind")
      #expect(storeError { try products.add(Product(since: start - 1)) }?.field == "since")
    }
  }

  struct Picky: Codable, Sendable {
    enum Level: String, Codable, Sendable { case low, high }

    var level: Level
    var name: String
  }

  /// A made-up record has no level that this type accepts.
  @Test func valueThatIsAddedShowsTheNameOfItsField() throws {
    try withStore { store in
      let name = TableName<Picky>(
        "t",
        declaring: TableDeclaration(.field(\.name, isRequired: true), .field(\.level, allowedValues: [.low])))
      let table = try store.table(name)
      try table.add(Picky(level: .low, name: "low"))
      let schema = try #require(try table.snapshot().schema)
      #expect(schema.fields.map(\.name) == ["name", "level"])
      #expect(schema.fields.map(\.type) == [.string, .string])
      #expect(storeError { try table.add(Picky(level: .high, name: "b")) }?.field == "level")
      try table.deleteAll()
      try table.add(Picky(level: .low, name: "c"))
    }
  }

  private struct Untold: Codable, Sendable {
    var level: Picky.Level
    var name: String
  }

  @Test func fieldWhoseNameNothingShowsIsAnErrorOfTheWrite() throws {
    try withStore { store in
      let table = try store.table(
        TableName<Untold>("t", declaring: TableDeclaration(.field(\.name, isRequired: true))))
      let error = storeError { try table.create() }
      #expect(error?.code == .invalidSchema && error?.table == "t")
      #expect(error?.message.contains("give its name") == true)
      let named = try store.table(
        TableName<Untold>("n", declaring: TableDeclaration(.field(\.name, "name", isRequired: true))))
      try named.create()
      #expect(try named.snapshot().schema?.fields.map(\.type) == [.string])
    }
  }
}
