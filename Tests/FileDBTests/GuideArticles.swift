extension Article {
  private static let jobs = """
    struct Job: Codable, Sendable { var number: Int }
    struct JobResult: Codable, Sendable { var number: Int }
    extension TableName<Job> { static var jobs: Self { "jobs" } }
    extension TableName<JobResult> { static var results: Self { "results" } }

    """
  private static let list = """
    struct List: Sendable { func apply(_ steps: ListSteps) {} }
    let list = List()

    """
  private static let codableFiles = """
    struct Note: Codable, Sendable { var uuid = UUID(); var title: String; var isDone = false }
    extension TableName<Note> { static var notes: Self { "notes" } }

    """
  private static let oldObjects = """
    struct Folder: Codable, Sendable { var name: String }
    struct Note: Codable, Sendable { var title: String; var created: Date?; var folder: RecordID<Folder>? }
    extension TableName<Folder> { static var folders: Self { "folders" } }
    extension TableName<Note> { static var notes: Self { "notes" } }
    final class OldNote { var title = ""; var created: Date? }
    final class OldFolder { var name = ""; var notes: [OldNote] = [] }

    """
  /// As much of SwiftUI as the cookbook uses.
  static let swiftUI = """
    @MainActor protocol View { associatedtype Body: View; @ViewBuilder var body: Body { get } }
    extension Never: View { var body: Never { fatalError() } }
    protocol Primitive: View where Body == Never {}
    extension Primitive { var body: Never { fatalError() } }
    struct Group<each Content: View>: Primitive {}
    extension Optional: View, Primitive where Wrapped: View { var body: Never { fatalError() } }
    @resultBuilder enum ViewBuilder {
      static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group<repeat each Content> { Group() }
      static func buildBlock<Content: View>(_ content: Content) -> Content { content }
      static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    }
    struct Text: Primitive { init(_ text: String) {} }
    struct List<Content: View>: Primitive { init(@ViewBuilder _ content: () -> Content) {} }
    struct ForEach<Data: RandomAccessCollection, Content: View>: Primitive where Data.Element: Identifiable {
      init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
      func onMove(perform: @escaping (IndexSet, Int) -> Void) -> Self { self }
      func onDelete(perform: @escaping (IndexSet) -> Void) -> Self { self }
    }
    @propertyWrapper struct State<Value> {
      private final class Box { var value: Value; init(_ value: Value) { self.value = value } }
      private let box: Box
      init(wrappedValue: Value) { box = Box(wrappedValue) }
      var wrappedValue: Value { get { box.value } nonmutating set { box.value = newValue } }
    }
    extension State where Value: ExpressibleByNilLiteral { init() { self.init(wrappedValue: nil) } }

    """
  /// What `FileDBSwiftUI` has on Apple's platforms.
  static let fileDBSwiftUI = """
    struct EnvironmentValues { var recordStore: RecordStore }
    extension View {
      func environment<Value>(_ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> Self { self }
    }
    @MainActor @propertyWrapper struct ObservedRecords<Value: Codable & Sendable> {
      init(_ name: TableName<Value>, where matches: (@Sendable (Value) throws -> Bool)? = nil) {}
      var wrappedValue: [DecodedRecord<Value>] { [] }
      var projectedValue: ObservableTable<Value>? { nil }
    }

    """
  /// As much of UIKit as the cookbook uses.
  private static let uiKit = """
    enum Animation { case automatic }
    enum Style { case plain }
    @MainActor final class UILabel { var text: String? }
    @MainActor final class UITableViewCell { let textLabel: UILabel? = UILabel() }
    extension IndexPath { var row: Int { self[1] } }
    @MainActor final class UITableView {
      func reloadData() {}
      func performBatchUpdates(_ body: () -> Void) { body() }
      func deleteRows(at paths: [IndexPath], with animation: Animation) {}
      func insertRows(at paths: [IndexPath], with animation: Animation) {}
      func moveRow(at path: IndexPath, to newPath: IndexPath) {}
      func reconfigureRows(at paths: [IndexPath]) {}
    }
    @MainActor class UITableViewController {
      let tableView = UITableView()
      init(style: Style) {}
      required init?(coder: NSCoder) {}
      func tableView(_ tableView: UITableView, moveRowAt old: IndexPath, to new: IndexPath) {}
      func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
      func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell { UITableViewCell() }
    }

    """

  static let guides = [
    Article(
      name: "Cookbook/ChangeTypes.md",
      pieces: [
        Piece(.file), Piece(.file),
        Piece(
          .function,
          """
          struct Task: VersionedValue { var title: String; static let migrations: [ValueMigration] = [] }
          let store = RecordStore.inMemory()

          """),
        Piece(.function, note + notes),
      ]),
    Article(
      name: "Cookbook/ReorderInLists.md",
      pieces: [
        Piece(.file, note + swiftUI),
        Piece(
          .file,
          note + openFolder + swiftUI + """
            struct NoteList { var notes: ObservableTable<Note> }
            @MainActor func run() throws {
            """, end: "_ = list\n}"),
        Piece(.file, note + uiKit), Piece(.function, note + notes + ids),
      ]),
    Article(
      name: "Cookbook/SeveralProcesses.md",
      pieces: [
        Piece(.function, jobs + "let store = RecordStore.inMemory()\n"),
        Piece(.asyncFunction, note + notes + list),
        Piece(.function, note + notes + "let note = Note(title: \"Buy milk\")\n"),
      ]),
    Article(
      name: "Cookbook/Server.md",
      pieces: [
        Piece(.file, note), Piece(.asyncFunction, jobs + "let store = RecordStore.inMemory()\n"),
        Piece(.file),
        Piece(
          .asyncFunction,
          note + notes
            + "struct Client: Sendable { func send(_ text: String) async {} }\nlet client = Client()\n"),
      ]),
    Article(
      name: "Cookbook/SyncedFolders.md",
      pieces: [
        Piece(
          .asyncFunction,
          "let store = RecordStore.inMemory()\nfunc show(_ conflicts: [MergeConflict]) {}\nfunc report(_ error: any Error) {}\n"
        )
      ]),
    Article(name: "Cookbook/ShipAndUpgrade.md", pieces: [Piece(.function, food), Piece(.function, food)]),
    Article(
      name: "Guides/FromCodableFiles.md",
      pieces: [Piece(.file), Piece(.file, codableFiles), Piece(.file, codableFiles)]),
    Article(name: "Guides/FromCoreData.md", pieces: [Piece(.file, oldObjects)]),
    Article(name: "Guides/FromJSON.md", pieces: [Piece(.function, note + notes)]),
    Article(name: "Guides/FromSQLite.md", pieces: [Piece(.function, note + notes)]),
    Article(name: "Guides/FromWgFileDb.md", pieces: [Piece(.function), Piece(.file)]),
  ]
}
