import FileDB
import Foundation
import TestSupport
import Testing

/// What the articles Format and Journal say suffices to write another reader and another writer: those in
/// Tests/FormatReader, in Python, agree with ours.
@Suite(.enabled(if: PythonFormat.isAvailable, "needs python3, 3.10 or later"))
struct FormatReaderTests {
  /// What is done to a copy of a store before both read it.
  private enum Harm: CaseIterable {
    case none, cutOff, shortened, wrongByte, lostSector, rubbish, olderFile, editedFile, interruptedCheckpoint
  }

  @Test func readerAgreesWithOurs() throws {
    var random = RandomStore(random: .fromEnvironment("a reader in Python"))
    try withTemporaryFolder { folder in
      var copies: [(harm: Harm, folder: URL)] = []
      let store = folder.appendingPathComponent("store")
      for number in 0..<160 {
        try addMoment(to: store, &random)
        let copy = folder.appendingPathComponent("copy \(number)")
        try FileManager.default.copyItem(at: store, to: copy)
        let harm = Harm.allCases.randomElement(using: &random.random)!
        try `do`(harm, to: copy, copies.last?.folder, &random)
        copies.append((harm, copy))
      }
      let out = folder.appendingPathComponent("out")
      let reports = try PythonFormat.read(copies.map(\.folder), into: out)
      #expect(reports.count == copies.count)
      for (number, copy) in copies.enumerated() {
        let tables = out.appendingPathComponent("\(number)")
        let difference = try difference(copy.folder, reports[number], tables)
        #expect(difference == nil, "copy \(number), \(copy.harm), seed \(random.random.seed)")
      }
      let kinds = Dictionary(grouping: reports) {
        $0.tables.values.contains("conflict") ? "conflict" : $0.journal
      }
      print("a reader in Python: \(kinds.mapValues(\.count))")
      let last = try RecordStore(at: store)
      // An edit may still be in conflict with commits that no later moment touched.
      for name in try last.tableNames { try settling(last) { _ = try last.table(name).snapshot() } }
      try last.checkInvariants()
    }
  }

  @Test func oursReadsWhatPythonWrites() throws {
    var random = RandomStore(random: .fromEnvironment("a writer in Python"))
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store")
      for number in 0..<12 {
        let out = folder.appendingPathComponent("out \(number)")
        try PythonFormat.write(store, into: out, seed: random.random.next(), count: random.number(1...8))
        let ours = try open(store, &random)
        let names = try ours.tableNames
        let files = try FileManager.default.contentsOfDirectory(atPath: out.path)
        #expect(
          files.sorted() == names.map { "\($0).plist" }.sorted(),
          "round \(number), seed \(random.random.seed)")
        for name in names {
          let same = try file(of: ours.table(name), in: folder) == file(name, in: out)
          #expect(same, "round \(number), '\(name)', seed \(random.random.seed)")
        }
        if random.number(0...1) == 0 { try random.commit(to: ours) }
        if random.number(0...3) == 0 { try ours.checkpoint() }
        try ours.checkInvariants()
      }
    }
  }

  // MARK: - Stores

  /// A store as a new process opens it, with limits that small stores reach.
  private func open(_ folder: URL, _ random: inout RandomStore) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.longestFrame = random.number(0...2) == 0 ? 500 : 8 << 20
    options.keptJournal = random.number(0...2) == 0 ? 3_000 : 60 << 10
    return try RecordStore(at: folder, options: options)
  }

  /// A commit, perhaps on a table that an editor saved meanwhile, and now and then a checkpoint.
  private func addMoment(to folder: URL, _ random: inout RandomStore) throws {
    let store = try open(folder, &random)
    if random.number(0...5) == 0 { try edit(someFile(in: folder, &random), &random) }
    try settling(store) { try random.commit(to: store) }
    if random.number(0...5) == 0 { try settling(store) { try store.checkpoint() } }
  }

  /// Keeps the file wherever an editor's save does not fit what was committed.
  private func settling(_ store: RecordStore, _ body: () throws -> Void) throws {
    while true {
      do {
        return try body()
      } catch let error as StoreError where error.code == .conflict {
        _ = try store.repair(#require(error.table), keeping: .file)
      }
    }
  }

  private func `do`(_ harm: Harm, to copy: URL, _ former: URL?, _ random: inout RandomStore) throws {
    let journal = copy.appendingPathComponent(".filedb/journal")
    var bytes = try [UInt8](Data(contentsOf: journal))
    let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    switch harm {
    case .none: return
    case .cutOff: for index in random.number(128...end)..<end { bytes[index] = 0 }
    case .shortened: bytes.removeLast(random.number(1...(bytes.count - 128)))
    case .wrongByte: bytes[random.number(0...(end - 1))] ^= UInt8(random.number(1...255))
    case .lostSector:
      let start = random.number(0...(end / 512)) * 512
      for index in start..<min(start + 512, bytes.count) { bytes[index] = 0 }
    case .rubbish: for index in end..<min(end + random.number(1...200), bytes.count) { bytes[index] = 120 }
    case .olderFile: return try takeFile(of: former, to: copy, &random)
    case .editedFile: return try edit(someFile(in: copy, &random), &random)
    case .interruptedCheckpoint:
      let frames = stride(from: 0, to: end, by: 64).filter { bytes[$0...].starts(with: "written ".utf8) }
      guard let written = frames.last else { return }
      for index in written..<end { bytes[index] = 0 }
      try takeFile(of: former, to: copy, &random)
      if random.number(0...2) == 0 { try edit(someFile(in: copy, &random), &random) }
    }
    try Data(bytes).write(to: journal)
  }

  private func someFile(in folder: URL, _ random: inout RandomStore) -> URL? {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let names = files.filter { $0.hasSuffix(".plist") }
    return names.sorted().randomElement(using: &random.random).map(folder.appendingPathComponent)
  }

  /// Puts a table's file as it was in another copy in the place of today's.
  private func takeFile(of former: URL?, to copy: URL, _ random: inout RandomStore) throws {
    guard let file = former.flatMap({ someFile(in: $0, &random) }) else { return }
    try Data(contentsOf: file).write(to: copy.appendingPathComponent(file.lastPathComponent))
  }

  /// Adds a field to the table's first record or raises its counter, as an editor does.
  private func edit(_ file: URL?, _ random: inout RandomStore) throws {
    guard let file else { return }
    let text = try String(contentsOf: file, encoding: .utf8)
    let field = "\t\t\t<key> \(random.number(0...Int(Int32.max)))</key>\n\t\t\t<true/>\n"
    let counter = "<key>autoincrement</key>\n\t<string>"
    let edited =
      random.number(0...2) == 0
      ? text.replacing(counter, with: "\(counter)1")
      : text.replacing("\n\t\t<dict>\n", with: "\n\t\t<dict>\n\(field)", maxReplacements: 1)
    try Data(edited.utf8).write(to: file)
  }

  // MARK: - Comparing

  /// How our reading of the store in `folder` differs from the one that `report` and `tables` tell of.
  private func difference(_ folder: URL, _ report: PythonFormat.Report, _ tables: URL) throws -> String? {
    let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
    if report.journal != "sound" {
      let code = storeError { _ = try store.table("no such table") }?.code
      let expected = report.journal == "damaged" ? StoreError.Code.damagedJournal : .newerFormat
      return code == expected ? nil : "\(report.why), for ours \(String(describing: code))"
    }
    for name in Set(try store.tableNames).union(report.tables.keys).sorted() {
      let (ours, theirs) = (try state(of: name, in: store), report.tables[name] ?? "missing")
      if ours != theirs { return "'\(name)' is \(theirs), for ours \(ours)" }
      if ours == "sound", try file(of: store.table(name), in: folder) != file(name, in: tables) {
        return "'\(name)' has other records"
      }
    }
    return nil
  }

  private func state(of name: String, in store: RecordStore) throws -> String {
    do {
      return try store.table(name).exists ? "sound" : "missing"
    } catch let error as StoreError {
      switch error.code {
      case .conflict: return "conflict"
      case .notATable, .damagedTable: return "not a table"
      default: return "\(error)"
      }
    }
  }

  /// The bytes that a checkpoint would write.
  private func file(of table: RecordTable<Fields>, in folder: URL) throws -> Data {
    let file = folder.appendingPathComponent(".written")
    try table.snapshot().write(to: file)
    return try Data(contentsOf: file)
  }

  private func file(_ name: String, in folder: URL) throws -> Data {
    try Data(contentsOf: folder.appendingPathComponent("\(name).plist"))
  }
}
