#if os(Linux)
  import FileDB
  import Foundation

  /// Makes every call of a writer on its files fail in turn, in every way that it can, and fills its disk; checks each
  /// time that what was acknowledged is there, what failed is not, nothing is there in part, and the store goes on.
  struct FaultTest {
    /// Every store of the test is made here, under the same name.
    var folder: URL
    var scratch: URL
    /// What `Tests/FaultInjection/build` makes.
    var library: URL
    var rounds: Int
    /// Only every so many-th call is made to fail, from a random one on.
    var step: Int
    var tablesPerCommit: Int
    var random: Random

    /// Of the template.
    private var editor: Editor
    private var runs = 0
    private var faults: [String: Int] = [:]
    private var commits = (acknowledged: 0, undone: 0, unknown: 0, stored: 0)

    init(
      folder: URL, scratch: URL, library: URL, rounds: Int, step: Int, tablesPerCommit: Int, random: Random
    ) {
      self.folder = folder.resolvingSymlinksInPath()  // As the kernel names the files in it.
      self.scratch = scratch
      self.library = library
      editor = Editor(folder: folder)
      self.rounds = rounds
      self.step = step
      self.tablesPerCommit = tablesPerCommit
      self.random = random
    }

    /// What goes wrong with the calls.
    private struct Kind {
      /// As FaultInjection.c has it.
      var name: String
      /// What the store's error must say; 0 if the store must get over it.
      var errno: Int32
      var isLasting: Bool

      static let all = [false, true].flatMap { isLasting in
        [
          ("EIO", EIO), ("ENOSPC", ENOSPC), ("EDQUOT", EDQUOT), ("EMFILE", EMFILE), ("EACCES", EACCES),
          ("EINTR", 0), ("short", 0), ("half", ENOSPC),
        ].map { Kind(name: $0.0, errno: $0.1, isLasting: isLasting) }
      }
    }

    private var store: URL { folder.appendingPathComponent("store") }
    private var template: URL { scratch.appendingPathComponent("template") }
    private var log: URL { scratch.appendingPathComponent("faults") }

    mutating func run() throws {
      let start = ContinuousClock.now
      defer {
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        let calls = faults.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        report(
          """

          \(runs) runs with a fault in \(seconds) s; calls that failed: \(calls.joined(separator: ", "))
          \(commits.acknowledged) commits acknowledged, \(commits.undone) undone, \(commits.unknown) of unknown outcome, \
          \(commits.stored) of those stored
          """)
      }
      for _ in 0..<rounds {
        try fillDisks()
        for kind in Kind.all {
          try failCalls(kind, after: nil)
          try failCalls(kind, after: leaveTemplate())
          try failCalls(kind, after: editTemplate())
        }
      }
    }

    /// Leaves a store as a crash may leave it.
    private mutating func leaveTemplate() throws -> Sighting {
      try? FileManager.default.removeItem(at: template)
      editor = Editor(folder: template)
      let writer = supervised(template, sighting: nil)
      try writer.start(seed: random.next())
      try writer.wait(commits: 4)
      try writer.kill()
      writer.child?.remove()
      try Data("half".utf8).write(to: template.appendingPathComponent(".first.plist.1a2b.filedb-draft"))
      return try Sighting(of: openStore(template), tablesPerCommit: tablesPerCommit)
    }

    /// Leaves a store of which an editor has saved the tables.
    private mutating func editTemplate() throws -> Sighting {
      _ = try leaveTemplate()
      try openStore(template).checkpoint()
      editor = Editor(folder: template)
      _ = try editor.save()
      return try Sighting(of: openStore(template), tablesPerCommit: tablesPerCommit)
    }

    /// - Parameter crash: what the store holds that the runs begin with; `nil` for a store yet to be made.
    private mutating func failCalls(_ kind: Kind, after crash: Sighting?) throws {
      let seed = random.next()
      var call = step == 1 ? 1 : Int.random(in: 1...step, using: &random)
      while try fail(call, kind, seed: seed, after: crash) { call += step }
    }

    /// - Returns: whether the call was made.
    private mutating func fail(_ call: Int, _ kind: Kind, seed: UInt64, after crash: Sighting?) throws -> Bool
    {
      try? FileManager.default.removeItem(at: store)
      try? FileManager.default.removeItem(at: log)
      if crash != nil { try FileManager.default.copyItem(at: template, to: store) }
      var environment = [
        "FAULT_FOLDER": folder.path, "FAULT_KIND": kind.name, "FAULT_AT": "\(call)", "FAULT_LOG": log.path,
        "LD_PRELOAD": library.path,
      ]
      if kind.isLasting { environment["FAULT_LASTING"] = "1" }
      func failed() -> [String] {
        ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
      }
      do {
        try check(
          seed: seed, errno: kind.errno, patience: kind.isLasting ? 3 : 1, environment: environment,
          sighting: crash)
      } catch {
        try requireNotStopped()
        let settings = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        throw Fault(
          """
          \(error)
          seed \(seed), \(crash == nil ? "a new store" : "a store after a crash"), \(settings.joined(separator: " "))
          calls that failed:
          \(failed().joined(separator: "\n"))
          """)
      }
      let calls = failed()
      if !calls.isEmpty { runs += 1 }
      for call in calls { faults[String(call.prefix { $0 != " " }), default: 0] += 1 }
      return !calls.isEmpty
    }

    /// Runs a writer to its end, and checks the store that it leaves.
    /// - Returns: how many of its commits failed.
    @discardableResult
    private mutating func check(
      seed: UInt64, errno: Int32, patience: Int, environment: [String: String] = [:],
      sighting: Sighting? = nil
    ) throws -> Int {
      try showProgress()
      let writer = supervised(store, sighting: sighting)
      defer {
        writer.child?.remove()
        commits.acknowledged += writer.acknowledged
        commits.undone += writer.undone
        commits.unknown += writer.cutOff.all
        commits.stored += writer.cutOff.stored
      }
      try writer.start(
        "faulty", seed: seed, options: ["--errno", "\(errno)", "--patience", "\(patience)"],
        environment: environment)
      try writer.waitForEnd()
      try writer.listen()
      let store = try openStore(store)
      let found = try Sighting(of: store, tablesPerCommit: tablesPerCommit)
      try writer.settle(found)
      if sighting != nil { try editor.compare(with: found) }
      try commitAgain(to: store, given: writer.given)
      return writer.undone + writer.cutOff.all
    }

    /// The next writer gets new ids, and its checkpoint clears up.
    private func commitAgain(to store: RecordStore, given: GivenIDs) throws {
      try store.write { tx in
        for table in workTables.indices {
          let mark = WorkRow(writer: "next", key: WorkRow.markKey, sequence: 1, length: 0)
          try given.note(tx[workTables[table]].add(mark), of: "next", in: table)
        }
      }
      try checkFiles(in: store.url)
    }

    private func supervised(_ folder: URL, sighting: Sighting?) -> SupervisedWriter {
      SupervisedWriter(
        name: "writer", folder: folder, scratch: scratch, tablesPerCommit: tablesPerCommit, given: GivenIDs(),
        sighting: sighting)
    }

    /// Gives a writer a disk that is too small, and each time a larger one, until all its commits find room.
    private mutating func fillDisks() throws {
      guard getuid() == 0 else { return report("no disk was filled: only root may mount one") }
      let seed = random.next()
      var (kilobytes, failed) = (8, 0)
      repeat {
        let spare = 4_096
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes + spare)k") == 0 else {
          return report("no disk was filled: no tmpfs can be mounted: \(String(cString: strerror(errno)))")
        }
        defer { _ = umount2(folder.path, CInt(MNT_DETACH)) }
        try Data(count: spare << 10).write(to: ballast(beside: store))
        do {
          failed = try check(seed: seed, errno: ENOSPC, patience: 3)
        } catch {
          throw Fault("\(error)\nseed \(seed), a disk with room for \(kilobytes) KiB")
        }
        kilobytes += 4 * step
      } while failed > 0
      report("disks with room for 8 to \(kilobytes - 4 * step) KiB were filled")
    }
  }
#endif
