import Foundation
import TestSupport
import Testing

/// Every piece of Swift in the articles compiles.
@Suite(.enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"))
struct ArticleTests {
  @Test(arguments: Article.all)
  func codeCompiles(_ article: Article) throws {
    let text = try String(contentsOf: Article.folder.appendingPathComponent(article.name), encoding: .utf8)
    let codes = text.components(separatedBy: "```swift\n").dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(codes.count == article.pieces.count)
    for (code, piece) in zip(codes, article.pieces) {
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent(piece.file)
        try Data(piece.source(of: code).utf8).write(to: file)
        let (status, output) = try Compiler.run(["-typecheck"] + piece.options + [file.path])
        #expect(status == 0, "\(code)\n\(output)")
      }
    }
  }

  /// Also in a target that runs on the main actor, as Xcode's new ones do.
  @Test(arguments: [[], ["-default-isolation", "MainActor"]])
  func firstCodeOfReadmeCompiles(_ isolation: [String]) throws {
    let readme = try String(contentsOf: packageRoot.appendingPathComponent("README.md"), encoding: .utf8)
    let code = try #require(readme.components(separatedBy: "```swift\nimport FileDB\n").dropFirst().first)
      .components(separatedBy: "```")[0]
    try withTemporaryFolder { folder in
      for piece in [Article.Piece(.script, Article.openFolder), Article.Piece(.function, Article.openFolder)]
      {
        let file = folder.appendingPathComponent(piece.file)
        try Data(piece.source(of: code).utf8).write(to: file)
        let (status, output) = try Compiler.run(["-typecheck"] + piece.options + isolation + [file.path])
        #expect(status == 0, "\(output)")
      }
    }
  }

  @Test func noArticleIsLeftOut() throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Article.folder.path)
    let withCode = try files.filter { name in
      guard name.hasSuffix(".md") else { return false }
      let text = try String(contentsOf: Article.folder.appendingPathComponent(name), encoding: .utf8)
      return text.contains("```swift\n")
    }
    #expect(Set(withCode) == Set(Article.all.map(\.name)))
  }
}

/// An article, and the context of each of its pieces of code.
struct Article: CustomTestStringConvertible {
  static let folder = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc")

  let name: String
  let pieces: [Piece]

  var testDescription: String { name }

  struct Piece {
    enum Place {
      /// In a function.
      case function
      /// In an `async` function.
      case asyncFunction
      /// A file of its own.
      case file
      /// The top level of a script.
      case script
      /// A file of a target that runs on the main actor.
      case mainActor
    }

    let place: Place
    /// Declarations of the names that the code uses.
    let names: String
    /// What closes a declaration that the code is inside.
    let end: String

    init(_ place: Place, _ names: String = "", end: String = "") {
      (self.place, self.names, self.end) = (place, names, end)
    }

    var file: String { place == .script ? "main.swift" : "Code.swift" }

    var options: [String] {
      switch place {
      // Many constants of an example are not used.
      case .function, .asyncFunction: ["-parse-as-library"]
      case .file: ["-parse-as-library", "-warnings-as-errors"]
      case .script: ["-warnings-as-errors"]
      case .mainActor: ["-parse-as-library", "-warnings-as-errors", "-default-isolation", "MainActor"]
      }
    }

    func source(of code: String) -> String {
      // Imports must be at the top of a file.
      let lines = code.split(separator: "\n", omittingEmptySubsequences: false)
      // The names show what the code uses of Apple's frameworks.
      let imports = lines.filter {
        $0.hasPrefix("import ") && !["import SwiftUI", "import UIKit"].contains($0)
      }.joined(separator: "\n")
      let rest = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
      let body =
        switch place {
        case .function: "func run() throws {\n\(rest)\n}\n"
        case .asyncFunction: "func run() async throws {\n\(rest)\n}\n"
        case .file, .script, .mainActor: rest
        }
      return "import FileDB\nimport Foundation\n\(imports)\n\(names)\n\(body)\n\(end)"
    }
  }
}

extension Article {
  static let note = """
    struct Note: Codable, Sendable { var title: String; var isDone = false }
    extension TableName<Note> { static var notes: Self { "notes" } }

    """
  private static let defaultedNote = """
    struct Note: DefaultedValue {
      var title: String
      var isDone = false
      static let defaults = Note(title: "")
    }
    extension TableName<Note> { static var notes: Self { "notes" } }

    """
  static let openFolder = """
    let folder = URL(fileURLWithPath: "Store")

    """
  private static let events = """
    import FileDBCluster
    struct Event: Codable, Sendable { var kind: String }
    extension TableName<Event> { static var events: Self { "events" } }
    let store = RecordStore.inMemory()
    func show(_ change: PagedChange<Event>) {}

    """
  static let ids = """
    let (milk, rent): (RecordID<Note>, RecordID<Note>) = (1, 2)

    """
  static let notes = """
    let store = RecordStore.inMemory()
    let folder = URL(fileURLWithPath: "Store")
    let file = URL(fileURLWithPath: "file")
    let notes = try! store.table(.notes)

    """
  static let food = """
    struct Food: Codable, Sendable { var name: String; var group = ""; var kcal: Double? }
    extension TableName<Food> { static var foods: Self { "foods" } }
    let store = RecordStore.inMemory()
    let food = try! store.table(.foods)
    let (limit, groups) = (100, ["Fruit"])
    let (user, shipped) = (URL(fileURLWithPath: "User"), URL(fileURLWithPath: "Shipped"))
    let (apple, bread, cheese): (RecordID<Food>, RecordID<Food>, RecordID<Food>) = (1, 2, 3)

    """
  private static let folders = """
    struct Folder: Codable, Sendable { var name: String }
    struct Note: Codable, Sendable { var title: String; var folder: RecordID<Folder> }
    extension TableName<Folder> { static var folders: Self { "folders" } }
    extension TableName<Note> { static var notes: Self { "notes" } }
    let store = RecordStore.inMemory()

    """
  private static let foodGroups = """
    struct Group: Codable, Sendable { var code: String; var title: String }
    struct Food: Codable, Sendable { var name: String; var group: String? }
    extension TableName<Group> { static var groups: Self { "groups" } }
    extension TableName<Food> { static var foods: Self { "foods" } }
    let store = RecordStore.inMemory()

    """
  private static let films = """
    struct Person: Codable, Sendable { var name: String }
    struct Film: Codable, Sendable { var title: String; var year: Int?; var director: RecordID<Person>? }
    extension TableName<Person> { static var people: Self { "people" } }
    extension TableName<Film> { static var media: Self { "media" } }
    let store = RecordStore.inMemory()

    """
  private static let recipe = """
    enum Course: String, Codable { case soup, dessert }
    struct Step: Codable { var text: String }
    struct Ingredient: Codable, Hashable { var name: String }
    struct Recipe: Codable, Sendable { var title: String; var course: Course; var rating: Int? }
    extension TableName<Recipe> { static var recipes: Self { "recipes" } }
    let store = RecordStore.inMemory()

    """
  private static let views = """
    enum Animation { case automatic }
    struct Columns {}
    @MainActor final class TableView {
      func performBatchUpdates(_ body: () -> Void) { body() }
      func deleteRows(at paths: [[Int]], with animation: Animation) {}
      func insertRows(at paths: [[Int]], with animation: Animation) {}
      func moveRow(at path: [Int], to newPath: [Int]) {}
      func reconfigureRows(at paths: [[Int]]) {}
      func beginUpdates() {}
      func endUpdates() {}
      func removeRows(at indices: [Int]) {}
      func insertRows(at indices: [Int]) {}
      func moveRow(at index: Int, to newIndex: Int) {}
      func reloadData(forRowIndexes indices: [Int], columnIndexes columns: Columns) {}
    }
    @MainActor let tableView = TableView()
    @MainActor var records: [DecodedRecord<Note>] = []

    """

  static let all = articles + guides

  private static let articles = [
    Article(name: "Attaching.md", pieces: [Piece(.function, food)]),
    Article(
      name: "Cluster.md",
      pieces: [
        Piece(.function, note + openFolder),
        Piece(.asyncFunction, events),
        Piece(.function),
      ]),
    Article(
      name: "Concurrency.md",
      pieces: [
        Piece(.mainActor),
        Piece(
          .asyncFunction,
          note + notes + """
            func onClick(_ action: @escaping @Sendable () throws -> Void) {}
            let note = Note(title: "Buy milk")
            let titles = ["Buy milk", "Pay the rent"]
            """),
        Piece(
          .function,
          note + notes + """
            func onClick(_ action: @escaping @Sendable () throws -> Void) {}
            let note = Note(title: "Buy milk")
            """),
        Piece(.script, note + "let folder = URL(fileURLWithPath: \"Notes\")\n"),
      ]),
    Article(name: "Exchange.md", pieces: [Piece(.function, note + notes)]),
    Article(
      name: "FileDB.md", pieces: [Piece(.script, note + "let folder = URL(fileURLWithPath: \"Notes\")\n")]),
    Article(
      name: "GettingStarted.md",
      pieces: [
        Piece(.file), Piece(.function, openFolder + defaultedNote), Piece(.function, notes + defaultedNote),
        Piece(.function, notes + defaultedNote), Piece(.function, notes + ids + defaultedNote),
        Piece(.function, notes + defaultedNote),
        Piece(.function, notes + defaultedNote + "let price = Decimal(5)\n"),
        Piece(.asyncFunction, openFolder + defaultedNote),
        Piece(
          .asyncFunction,
          notes + defaultedNote
            + "struct List: Sendable { func apply(_ steps: ListSteps) {} }\nlet list = List()\n"),
        Piece(.function, notes + ids + defaultedNote),
        Piece(
          .function,
          """
          let (user, shipped) = (URL(fileURLWithPath: "User"), URL(fileURLWithPath: "Shipped"))
          let apple: RecordID<Fields> = 1

          """),
        Piece(.function, notes + defaultedNote),
      ]),
    Article(
      name: "Merging.md",
      pieces: [
        Piece(
          .function,
          note + """
            let (base, ours, theirs): (TableSnapshot<Note>, TableSnapshot<Note>, TableSnapshot<Note>) =
              { let notes = try! RecordStore.inMemory().table(.notes).lastSnapshot; return (notes, notes, notes) }()
            let file = URL(fileURLWithPath: "file")
            """)
      ]),
    Article(
      name: "Observation.md",
      pieces: [
        Piece(
          .asyncFunction,
          note + notes + "struct List: Sendable { func apply(_ steps: ListSteps) {} }\nlet list = List()\n"),
        Piece(
          .file,
          note + """
            @MainActor final class Model {
              var observation: TableObservation<Note>?
              func show(_ change: ListChange<Note>) {}
              func begin(_ notes: RecordTable<Note>) {
            """, end: "} }"),
        Piece(.file, note + swiftUI + fileDBSwiftUI),
        Piece(.file, note + views + "@MainActor"),
        Piece(
          .file, note + views + "@MainActor func show(_ change: ListChange<Note>, _ columns: Columns) {",
          end: "}"),
      ]),
    Article(
      name: "Queries.md",
      pieces: [
        Piece(.function, note + notes), Piece(.function, note + notes), Piece(.function, food),
        Piece(.function, note + notes + "let food = try! store.table(\"food\")\n"),
        Piece(.function, note + notes), Piece(.function, folders),
        Piece(.function, food), Piece(.function, "let store = RecordStore.inMemory()\n"),
        Piece(.function, foodGroups), Piece(.function, folders + "let home: RecordID<Folder> = 1\n"),
        Piece(.function, note + notes),
      ]),
    Article(name: "SQLite.md", pieces: [Piece(.function, note + notes)]),
    Article(
      name: "Schemas.md", pieces: [Piece(.file), Piece(.function, films), Piece(.function, films)]),
    Article(
      name: "Shipping.md",
      pieces: [
        Piece(
          .function,
          "let userFolder = URL(fileURLWithPath: \"User\")\nfunc show(_ table: InstallReport.Table) {}\n")
      ]),
    Article(
      name: "Values.md",
      pieces: [
        Piece(
          .file,
          """
          enum Course: String, Codable { case soup }
          struct Step: Codable { var text: String }
          struct Ingredient: Codable, Hashable { var name: String }
          """),
        Piece(
          .function,
          recipe + """
            let recipes = try! store.table(.recipes)
            let soup = Recipe(title: "Soup", course: .soup)

            """),
        Piece(.function, recipe),
        Piece(.function, food),
        Piece(.function, "let start = Date()\n"),
        Piece(.file),
        Piece(.file, "func parseDate(_ text: String) -> Date? { nil }\n"),
      ]),
  ]
}
