import FileDB
import Foundation
import TestSupport
import Testing

/// A table over an attached one does all that a table of its own with the same records would.
@Suite struct AttachedModelTests {

  private static let options = {
    var options = StoreOptions(checkpoints: .manual)
    options.shape = OrderedRecords.Shape(chunk: 3, section: 3)
    return options
  }()

  @Test func attachedTableAgreesWithPlainTable() throws {
    try withTemporaryFolder { folder in
      let shipped = folder.appendingPathComponent("shipped")
      var verbs = RandomVerbs(
        random: .fromEnvironment("attached model"), tables: ["a", "b"], size: 16, wholeTable: [.deleteAll])
      try ship(&verbs, to: shipped)
      let before = try contents(of: shipped)
      var stores = try (0..<2).map { _ in
        try RecordStore(
          at: folder.appendingPathComponent("user"), attaching: shipped, as: "main", options: Self.options)
      }
      for turn in 0..<150 {
        let store = stores[Int.random(in: 0..<2, using: &verbs.random)]
        switch Int.random(in: 0..<10, using: &verbs.random) {
        case ..<7: try transaction(in: store, &verbs)
        case 7: try verbs.stepAndRegret(in: store)
        case 8: try store.checkpoint()
        default: stores[0] = try stores[1].reopened()
        }
        for store in stores {
          try store.refresh()
          do { try verbs.compare(with: store) } catch {
            throw BrokenInvariant(description: "turn \(turn): \(error)")
          }
        }
        try store.checkInvariants()
      }
      for store in stores { try store.checkNothingIsLeftBehind() }
      #expect(try contents(of: shipped) == before)
    }
  }

  /// Makes the tables that both sides begin with.
  private func ship(_ verbs: inout RandomVerbs, to folder: URL) throws {
    let shipped = try RecordStore(at: folder)
    for name in verbs.plain.keys.sorted() {
      let records = (1...12).map { PlainFields(uniqueKeysWithValues: [("number", .integer(Int64($0 % 5)))]) }
      try shipped.write { tx in
        _ = try tx[name].perform(.add(records, .bottom))
      }
      _ = verbs.plain[name]?.perform(.add(records, .bottom))
      verbs.plain[name]?.counter = 1_000_000_000
      verbs.plain[name]?.reserved = 13..<1_000_000_001
    }
    try shipped.close()
  }

  private func transaction(in store: RecordStore, _ verbs: inout RandomVerbs) throws {
    try store.write { tx in
      for _ in 0..<Int.random(in: 1...5, using: &verbs.random) { try verbs.step(&tx) }
    }
  }

  private func contents(of folder: URL) throws -> [String: Data] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: files.compactMap { file in
        let url = folder.appendingPathComponent(file)
        let isFolder = try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
        return isFolder ? nil : (file, try Data(contentsOf: url))
      })
  }
}
