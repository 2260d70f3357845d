import Foundation
import TestSupport
import Testing

/// The code of the article on actors, tasks and scripts compiles as the article says.
@Suite(.enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"))
struct ConcurrencyArticleTests {
  /// How each of the article's pieces of code is compiled.
  enum Piece: Int, CaseIterable {
    case mainActorTarget, closures, verbAlone, script

    /// The names that the piece uses, and the file it is in.
    func source(of code: String) -> (file: String, text: String) {
      switch self {
      case .mainActorTarget: ("Model.swift", "import FileDB\n\(code)")
      case .closures, .verbAlone: ("Closures.swift", Self.names + "func run() async throws {\n\(code)}\n")
      case .script: ("main.swift", Self.note + "let folder = URL(fileURLWithPath: \"Notes\")\n\(code)")
      }
    }

    var options: [String] {
      switch self {
      case .mainActorTarget: ["-parse-as-library", "-default-isolation", "MainActor"]
      case .closures, .verbAlone: ["-parse-as-library"]
      case .script: []
      }
    }

    private static let note = """
      import FileDB
      import Foundation
      struct Note: Codable, Sendable { var title: String }
      extension TableName<Note> { static var notes: Self { "notes" } }

      """

    private static let names =
      note + """
        func onClick(_ action: @escaping @Sendable () throws -> Void) {}
        let store = RecordStore.inMemory()
        let notes = try! store.table(.notes)
        let note = Note(title: "Buy milk")
        let titles = ["Buy milk", "Pay the rent"]

        """
  }

  @Test(arguments: Piece.allCases)
  func codeCompilesWithoutAWarning(_ piece: Piece) throws {
    let article = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc/Concurrency.md")
    let codes = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
      .dropFirst()
      .map { $0.components(separatedBy: "```")[0] }
    #expect(codes.count == Piece.allCases.count)
    let (name, text) = piece.source(of: codes[piece.rawValue])
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent(name)
      try Data(text.utf8).write(to: file)
      let (status, output) = try Compiler.run(
        ["-typecheck", "-warnings-as-errors"] + piece.options + [file.path])
      #expect(status == 0, "\(output)")
    }
  }
}
