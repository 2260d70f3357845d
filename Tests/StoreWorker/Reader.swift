import FileDB
import Foundation

/// Looks at the store again and again, and says a dot for each time that it found nothing wrong.
struct Reader {
  private let folder: URL
  private let tablesPerCommit: Int
  private let longLived: RecordStore
  private var marks: [[String: Int]] = workTables.map { _ in [:] }
  private var counters: [Int64] = workTables.map { _ in 0 }
  private var looks = 0

  init(folder: URL, tablesPerCommit: Int) throws {
    self.folder = folder
    self.tablesPerCommit = tablesPerCommit
    longLived = try openStore(folder)
  }

  /// - Throws: ``Fault`` if the store is unsound, or older than it was when last looked at.
  mutating func look() throws {
    looks += 1
    // In turn a store that is brought up to date, and one that is opened anew.
    let store = looks.isMultiple(of: 2) ? longLived : try openStore(folder)
    let which = looks.isMultiple(of: 2) ? "kept open" : "opened anew"
    let sighting = try Sighting(of: store, tablesPerCommit: tablesPerCommit)
    for table in workTables.indices {
      let new = sighting.marks(in: table)
      for (writer, sequence) in marks[table] {
        try require(
          new[writer] ?? 0 >= sequence,
          "\(workTables[table].text), \(which): \(writer) went back from \(sequence) to \(new[writer] ?? 0); "
            + "all were at \(marks[table]), are at \(new)")
      }
      try require(
        sighting.counters[table] >= counters[table],
        "\(workTables[table].text): the counter went back from \(counters[table]) to \(sighting.counters[table])"
      )
      marks[table] = new
      counters[table] = sighting.counters[table]
    }
    try FileHandle.standardOutput.write(contentsOf: Data(".".utf8))
  }
}
