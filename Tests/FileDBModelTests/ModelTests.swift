import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct ModelTests {
  /// `FILEDB_OPERATIONS` says how many verbs; `Tests/model` runs millions.
  @Test(arguments: [StorePlace.memory, .disk])
  func storesAgreeWithPlainArrays(place: StorePlace) throws { try run(in: place, reading: .whole) }

  @Test(arguments: [StorePlace.memory, .outside])
  func storesThatReadInPiecesAgreeWithPlainArrays(place: StorePlace) throws {
    try run(in: place, reading: .pieces { fatalError("\($0)") })
  }

  private func run(in place: StorePlace, reading: TableReading) throws {
    let operations = TestLength.operations
    let count = place == .memory ? operations : operations / 20  // A disk waits at each sync.
    let random = SeededRandom.fromEnvironment("\(count) verbs in \(place)")
    // The same seed, the same run: no checkpoint comes by itself when the machine has made a pause.
    var options = StoreOptions(checkpoints: .manual)
    options.shape = OrderedRecords.Shape(chunk: 4, section: 3)  // So that few records have many borders.
    (options.reading, options.leastUnread) = (reading, 1)
    try withStore(place, options: options) { store in
      let stores = try (0..<3).map { _ in
        try RecordStore(at: store.url, disk: store.disk, options: store.options)
      }
      var run = ModelRun(stores: stores, random: random)
      do {
        while run.verbCount < count { try run.turn() }
      } catch {
        Issue.record("after \(run.verbCount) verbs, seed \(random.seed), \(run.lastTurn): \(error)")
      }
      try run.finish()
      print("\(place): \(run.summary)")
    }
  }
}
