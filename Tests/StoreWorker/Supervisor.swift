import FileDB
import Foundation

/// Kills writers at random moments, starts them again, and checks after each kill that what was acknowledged is there.
struct Supervisor {
  var folder: URL
  var scratch: URL
  var kills: Int
  var writers: Int
  var readers: Int
  var tablesPerCommit: Int
  var random: Random

  mutating func run() throws {
    let given = GivenIDs()
    let writers = (1...writers).map {
      SupervisedWriter(
        name: "writer\($0)", folder: folder, scratch: scratch, tablesPerCommit: tablesPerCommit, given: given)
    }
    let readers = try (0..<readers).map { _ in
      try ChildProcess(["reader", folder.path, "--tables", "\(tablesPerCommit)"], scratch: scratch)
    }
    var (done, reads) = (0, 0)
    defer {
      for writer in writers { writer.child?.remove() }
      for reader in readers { reader.remove() }
      let cutOff = writers.map(\.cutOff)
      report(
        """

        \(done) kills, \(cutOff.map(\.all).reduce(0, +)) of them inside a commit, \
        \(cutOff.map(\.stored).reduce(0, +)) of those commits stored
        \(writers.map(\.acknowledged).reduce(0, +)) commits acknowledged, \(reads) reads checked
        """)
    }
    for writer in writers { try writer.start(seed: random.next()) }
    while done < kills, let victim = writers.randomElement(using: &random) {
      if random.once(in: 8) {
        usleep(.random(in: 0..<30_000, using: &random))  // It may not even have opened the store.
      } else {
        try victim.wait(commits: .random(in: 1...6, using: &random))
        usleep(.random(in: 0..<4_000, using: &random))
      }
      try victim.requireRunning()
      try victim.kill()
      done += 1
      try showProgress()
      try victim.settle(sighting())
      for reader in readers {
        reads += try reader.newOutput().count
        try require(!reader.hasEnded, "a reader ended with \(reader.complaint)")
      }
      try victim.start(seed: random.next())
    }

    for writer in writers { try writer.kill() }
    for writer in writers { try writer.settle(sighting()) }
    for reader in readers {
      try require(!reader.hasEnded, "a reader ended with \(reader.complaint)")
      reader.kill()
      reads += try reader.newOutput().count
    }
    // The locks of the killed are free, and what they left behind goes with the next commit.
    for writer in writers {
      try writer.start(seed: random.next(), commits: 2)
      try writer.waitForEnd()
      try writer.listen()
      try writer.settle(sighting())
    }
    try checkFiles(in: folder)
  }

  private func sighting() throws -> Sighting {
    try Sighting(of: openStore(folder), tablesPerCommit: tablesPerCommit)
  }
}

/// Checks the files of a store to which nobody writes, after a commit that had the chance to clear up.
func checkFiles(in folder: URL) throws {
  let store = try openStore(folder)
  try store.checkpoint()
  let journal = try store.checkJournal()
  try require(journal == nil, "\(String(describing: journal))")
  for table in try store.tableNames {
    let findings = try store.check(table)
    try require(findings.isEmpty, "\(table): \(findings)")
  }
  let files = FileManager.default
  let hidden = try files.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".") }
  let own = try files.contentsOfDirectory(atPath: folder.appendingPathComponent(".filedb").path)
  let drafts = own.filter { $0.hasSuffix("draft") }
  try require(hidden == [".filedb"] && drafts.isEmpty, "left behind: \(hidden), \(drafts)")
}
