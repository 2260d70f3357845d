import FileDB
import Foundation
import TestSupport
import Testing

private struct Refused: Error {}

private struct Moody: Codable, Sendable {
  var mood: String

  init(mood: String) { self.mood = mood }

  init(from decoder: any Decoder) throws {
    mood = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .mood)
    if mood == "bad" { throw Refused() }
  }

  func encode(to encoder: any Encoder) throws {
    if mood == "worse" { throw Refused() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(mood, forKey: .mood)
  }

  enum CodingKeys: CodingKey { case mood }
}

/// The text of errors, and how they are matched.
@Suite struct StoreErrorTests {
  @Test func codeMatchesInASwitchAndInACatch() throws {
    let table = try RecordStore.inMemory().table("t")
    try table.create()
    do {
      try table.delete(3)
      Issue.record("the table has no record 3")
    } catch let error as StoreError {
      switch error.code {
      case .recordNotFound: #expect(error.record == 3)
      default: Issue.record(error)
      }
    }
    do {
      try table.store.write { tx in try tx["t"].delete(4) }
    } catch StoreError.Code.recordNotFound {}
  }

  @Test func localizedDescriptionIsTheWholeError() throws {
    let table = try RecordStore.inMemory().table("t")
    try table.create()
    let error = try #require(storeError { try table.delete(3) })
    #expect((error as any Error).localizedDescription == "table 't': record 3: \(error.message)")
    #expect(error.failureReason == error.message)
  }

  @Test func errorsAreEqualIfTheySayTheSame() {
    func error(_ change: (inout StoreError) -> Void = { _ in }) -> StoreError {
      var error = StoreError(.locked, "x", file: "f", line: 1, table: "t", record: 3, field: "g")
      change(&error)
      return error
    }
    #expect(error() == error())
    #expect(error { $0.underlyingError = Refused() } == error())
    #expect(error() != StoreError(.closed, "x", file: "f", line: 1, table: "t", record: 3, field: "g"))
    let changes: [(inout StoreError) -> Void] = [
      { $0.message = "y" }, { $0.file = nil }, { $0.line = 2 }, { $0.column = 1 }, { $0.table = "u" },
      { $0.record = nil }, { $0.field = "h" }, { $0.errno = 2 }, { $0.excerpt = "z" },
    ]
    for change in changes { #expect(error(change) != error()) }
  }

  /// The codes of all modules, as their sources have them.
  private static func codeNames() throws -> [String] {
    let sources = packageRoot.appendingPathComponent("Sources")
    return try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
      .flatMap { path in
        try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
          .matches(of: /static let \w+ = (?:StoreError\.)?(?:Self|Code)\(rawValue: "(\w+)"\)/)
          .map { String($0.1) }
      }
  }

  @Test func eachCodeHasItsOwnNumberInAnNSError() throws {
    let names = try Self.codeNames()
    #expect(names.count > 50 && Set(names).count == names.count)
    let errors = names.map { StoreError(StoreError.Code(rawValue: $0), "x") as NSError }
    #expect(Set(errors.map(\.code)).count == names.count)
    #expect(errors.allSatisfy { $0.domain == "FileDB.StoreError" && $0.code > 0 })
    // It must not change from version to version.
    #expect((StoreError(.recordNotFound, "x") as NSError).code == 1_223_781_147)
  }

  @Test func recoverySuggestionNamesTheCall() {
    #expect(StoreError(.conflict, "x").recoverySuggestion?.contains("repair(_:keeping:)") == true)
    #expect(StoreError(.recordNotFound, "x").recoverySuggestion == nil)
  }

  @Test func errorOfACallersTypeIsWrapped() throws {
    let store = RecordStore.inMemory()
    let table = try store.table(TableName<Moody>("t"))
    let unwritten = try #require(storeError { try table.add(Moody(mood: "worse")) })
    #expect(unwritten.code == .invalidValue && unwritten.table == "t")
    #expect(unwritten.underlyingError is Refused)
    try store.table("t").add(["mood": "bad"])
    let unread = try #require(storeError { _ = try table.value(of: 1) })
    #expect(unread.code == .invalidValue && unread.record == 1)
    #expect(unread.underlyingError is Refused)
    // An error that the body throws is passed on unchanged.
    #expect(throws: Refused.self) { try store.write { _ in throw Refused() } }
    try store.checkInvariants()
  }

  @Test func recordPrintsItsIDAndFields() throws {
    let table = try RecordStore.inMemory().table("t")
    try table.add(["title": "Buy milk", "isDone": true])
    let snapshot = try table.snapshot()
    #expect("\(snapshot[0])" == #"1 ["isDone": true, "title": "Buy milk"]"#)
    #expect("\(snapshot)" == "t: 1 record\n  \(snapshot[0])")
  }

  @Test func recordsAndSnapshotsAreComparedByWhatTheyHold() throws {
    let (one, other) = (RecordStore.inMemory(), RecordStore.inMemory())
    for store in [one, other] {
      try store.table("t").add(contentsOf: [["n": 1], ["n": 0.5, "d": ["a": [1, 2]]]])
    }
    let (left, right) = (try one.table("t").snapshot(), try other.table("t").snapshot())
    #expect(left == right)
    #expect(Set(left).union(right).count == 2)
    #expect(Set(left.map(\.fields)).union(right.map(\.fields)).count == 2)
    try other.table("t").move(1, to: .bottom)
    #expect(try left != other.table("t").snapshot())
    #expect(left[0] != left[1])
  }
}
