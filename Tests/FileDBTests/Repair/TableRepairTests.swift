import FileDB
import FileDBPlist
import FileDBStorage
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct TableRepairTests {
  /// Another thread makes the checkpoint that makes the table's file, after somebody has looked for that file.
  @Test(arguments: ["check", "repair"]) func tableIsFoundWhoseFileIsMadeMeanwhile(verb: String) throws {
    let store = Mutex<RecordStore?>(nil)
    let disk = FaultyDisk(
      over: MemoryDisk(.emptyHome),
      faults: .choose { verb, path in
        // The file would be `t.plist`, or else this one.
        if verb == .status, path == "/home/store/t", let store = store.withLock({ $0.take() }) {
          try! store.checkpoint()
        }
        return nil
      })
    let options = StoreOptions(checkpoints: .manual)
    let opened = try RecordStore(at: URL(fileURLWithPath: "/home/store"), disk: disk, options: options)
    try opened.table("t").add(["n": 1])
    store.withLock { $0 = opened }
    switch verb {
    case "check": #expect(try opened.check("t").isEmpty)
    default: #expect(try opened.repairPlan(for: "t").notes.isEmpty)
    }
    #expect(store.withLock { $0 == nil })
  }

  /// A store with one table, whose file has these bytes.
  private func store(_ bytes: some Sequence<UInt8>) throws -> RecordStore {
    let store = RecordStore.inMemory()
    try store.disk.createFolder(store.url.path)
    _ = try store.disk.replace("\(store.url.path)/t.plist", with: Array(bytes))
    return store
  }

  private func repaired(_ bytes: Data, _ body: (RecordTable<Fields>, [String]) throws -> Void) throws {
    let store = try store(bytes)
    let disk = try store.disk
    let file = "\(store.url.path)/t.plist"
    let plan = try store.repairPlan(for: "t")
    #expect(try disk.read(file).bytes == Array(bytes), "a plan writes nothing")
    let report = try store.repair("t")
    let backups = report.backups
    #expect(report.notes == plan.notes)
    #expect(backups.isEmpty == plan.notes.isEmpty)
    #expect(try disk.read(backups.first?.path ?? file).bytes == Array(bytes))
    try body(store.table("t"), plan.notes)
    try store.checkInvariants()
    #expect(try store.repairPlan(for: "t").notes == [], "a second repair finds nothing")
  }

  @Test func repairFixesRecordsBrokenByHandEditing() throws {
    let text = tableText(
      counter: "2",
      records: [
        record("7", "<!-- mine --><key>a</key><string>first</string>"),
        "<dict><key>a</key><string>no id</string></dict>",
        record("7", "<key>a</key><string>doubled</string>"), "<string>stray</string>",
        record(" 003", "<key>a</key><string>odd</string>"),
      ], rest: "<key>owner</key><string>me</string>")
    try repaired(Data(text.utf8)) { table, notes in
      #expect(
        table.lastSnapshot.map { $0.fields } == [
          ["a": "first"], ["a": "no id"], ["a": "doubled"], ["value": "stray"], ["a": "odd"],
        ])
      #expect(table.lastSnapshot.ids == [7, 8, 9, 10, 3])
      #expect(try table.counter == 10)
      #expect(
        notes == [
          "line 7: this record has no id; it is 8 from now on",
          "line 8: a second record has the id 7; it is 9 from now on",
          "line 9: <string> among the records becomes a record with the field 'value'",
          "line 9: this record has no id; it is 10 from now on",
        ])
      let root = try PlistParser.parse(table.store.disk.read(table.url.path).bytes)
      #expect(root.dict?["owner"] == "me")
    }
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func repairNotesCountEveryKindOfLineEnd(lineEnd: String) throws {
    let records = [record("7"), "<!--", "-->", "<dict><key>a</key><odd/></dict>", record("8")]
    let text = tableText(records: records).replacing("\n", with: lineEnd)
    try repaired(Data(text.utf8)) { table, notes in
      #expect(table.lastSnapshot.ids == [7, 8])
      #expect(notes.contains { $0.hasPrefix("line 9: what is here cannot be read") }, "\(notes)")
    }
  }

  @Test func repairFixesStaleIndexMapLowCounterAndComment() throws {
    let text = tableText(
      counter: "1", records: ["<!-- x -->", record("7")],
      rest: "<key>index</key><dict><key>7</key><string>4</string></dict>")
    try repaired(Data(text.utf8)) { table, notes in
      #expect(table.lastSnapshot.ids == [7])
      #expect(notes.count == 3)
      #expect(notes[0].hasPrefix("line 6: a comment"))
    }
  }

  /// The file's index map names each id a second time; it is used if it fits the records whose ids are certain.
  @Test func lostIDIsRecoveredFromIndexMap() throws {
    let index = ["7", "3", "8"].enumerated().map { "<key>\($1)</key><string>\($0)</string>" }.joined()
    func text(_ records: [String]) -> Data {
      Data(tableText(records: records, rest: "<key>index</key><dict>\(index)</dict>").utf8)
    }
    try repaired(text(["<dict><key>a</key><true/></dict>", record("3"), record("3")])) { table, notes in
      #expect(table.lastSnapshot.ids == [7, 3, 8])
      #expect(
        notes.suffix(2) == [
          "line 6: this record has no id; by the index map it is 7",
          "line 8: another record has the id 3; by the index map it is 8",
        ])
    }
    try repaired(text(["<dict><key>a</key><true/></dict>", record("5"), record("5")])) { table, _ in
      #expect(table.lastSnapshot.ids == [7, 5, 10], "whose it is, is not in the index")
    }
    try repaired(text(["<dict><key>a</key><true/></dict>", record("3"), record("5")])) { table, _ in
      #expect(table.lastSnapshot.ids == [10, 3, 5], "an index that fits no more")
    }
  }

  @Test func missingCounterBecomesHighestID() throws {
    let text = tableText(records: [record("7")]).replacing(
      "<key>autoincrement</key><string>9</string>", with: "")
    try repaired(Data(text.utf8)) { table, notes throws in
      #expect(try table.counter == 7)
      #expect(notes.first == "the counter is missing or is not a number; it becomes the highest id")
    }
  }

  /// A table of ours with five records of every kind of value, and its records' places in the bytes.
  private func sample() throws -> (bytes: [UInt8], records: [Fields], places: [Range<Int>]) {
    let records: [Fields] = (0..<5).map { number in
      [
        "n": .integer(number), "text": .string("line\n\t\t<dict>\n& \(number)"),
        "inside": ["deep": ["x": [1, 2.5]]],
        "data": .data(Data(repeating: UInt8(number), count: 40)),
        "when": .date(Date(timeIntervalSince1970: 1e9)),
      ]
    }
    let store = RecordStore.inMemory()
    try store.table("t").add(contentsOf: records)
    try store.checkpoint()
    let bytes = try store.disk.read(store.url(of: "t").path).bytes
    let text = String(decoding: bytes, as: UTF8.self)
    let starts = text.ranges(of: "\n\t\t<dict>\n\t\t\t<").map {
      text.utf8.distance(from: text.startIndex, to: $0.lowerBound) + 1
    }
    let ends = text.ranges(of: "\n\t\t</dict>\n").map {
      text.utf8.distance(from: text.startIndex, to: $0.upperBound)
    }
    return (bytes, records, zip(starts, ends).map { $0..<$1 })
  }

  @Test func repairOfTruncatedFileKeepsWholeRecords() throws {
    let (bytes, records, places) = try sample()
    #expect(places.count == 5)
    for length in stride(from: places[0].upperBound, to: bytes.count - 1, by: 7) {
      try repaired(Data(bytes[..<length])) { table, _ throws in
        // The line end after the last tag may be missing.
        let whole = places.count { $0.upperBound - 1 <= length }
        #expect(table.lastSnapshot.map(\.fields) == Array(records.prefix(whole)), "cut at byte \(length)")
        #expect(try table.counter == 5)
      }
    }
  }

  /// A file with one damaged byte is read as before, or refused; then a repair keeps all records but the one that was
  /// hit.
  @Test func damagedByteCostsAtMostItsRecord() throws {
    let (bytes, records, places) = try sample()
    var random = SeededRandom.fromEnvironment("damaged bytes")
    var refused = 0
    for position in stride(from: Int.random(in: 0..<5, using: &random), to: bytes.count, by: 5) {
      var damaged = bytes
      damaged[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      let store = try store(damaged)
      if (try? store.table("t")) != nil { continue }
      refused += 1
      let hit = places.firstIndex { $0.contains(position) }
      if let error = storeError({ _ = try store.repair("t") }) {
        Issue.record("byte \(position), seed \(random.seed): not repaired, \(error)")
        continue
      }
      let kept = try store.table("t").lastSnapshot.map(\.fields)
      let sound = records.indices.filter { $0 != hit }.map { records[$0] }
      #expect(sound.allSatisfy(kept.contains), "byte \(position), seed \(random.seed)")
      try store.checkInvariants()
    }
    #expect(refused > 50)
  }

  @Test func repairLosesOnlyBadValueOfMinifiedFile() throws {
    let bad = "\t\t<dict><key>n</key><integer>1</integer><key>n</key><integer>2</integer></dict>"
    for records in [[bad, record("2", "<key>in</key><dict><key>x</key><dict/></dict>"), record("3")]] {
      let text = tableText(
        records: records.map { "\t\t" + $0.trimmingPrefix { $0 == "\t" } } + [
          "\t\t<dict><key>noid</key><true/></dict>"
        ])
      try withTemporaryFolder { folder in
        try Data(text.utf8).write(to: folder.appendingPathComponent("t.plist"))
        let store = try RecordStore(at: folder)
        let plan = try store.repair("t")
        #expect(plan.lostCount == 1)
        #expect(try store.table("t").lastSnapshot.ids == [10, 2, 3, 11])
        #expect(try store.table("t").value(of: 2) == ["in": ["x": [:]]])
        #expect(try store.table("t").value(of: 10) == ["n": 1])
        #expect(try store.table("t").value(of: 11) == ["noid": true])
      }
    }
  }

  /// A value that one typed wrongly, what becomes of it, and of how many pieces nothing is kept.
  private static let wrongValues: [(element: String, value: PlistValue?, lost: Int)] = [
    ("<string>Salt & pepper</string>", "Salt & pepper", 0),
    ("<string>a &b; c &amp; d</string>", "a &b; c & d", 0),
    ("<integer>12a</integer>", "12a", 0), ("<real>1,5</real>", "1,5", 0),
    ("<date>tomorrow</date>", "tomorrow", 0),
    ("<data>!</data>", "!", 0), ("<float>1.5</float>", "1.5", 0),
    ("<string>a <b>c</b></string>", "a <b>c</b>", 0),
    ("<array><integer>x</integer></array>", "<integer>x</integer>", 0), ("<true>yes", nil, 1), ("", nil, 1),
    ("<string>one</string><string>two</string>", "one</string><string>two", 0),
    ("<string>kept</string><key>w</key><string>twice</string>", "kept", 1),
  ]

  /// In a table of one record, and in one of three.
  @Test(arguments: [1, 3]) func wrongValueCostsNeitherItsRecordNorTheOthers(count: Int) throws {
    for (element, value, lost) in Self.wrongValues {
      let records = (1...count).map { number in
        let wrong = number == (count + 1) / 2 ? "<key>w</key>\(element)" : ""
        return record(
          "\(number)", "<key>before</key><integer>1</integer>\(wrong)<key>after</key><string>&lt;x</string>")
      }
      try withTemporaryFolder { folder in
        let bytes = Data(tableText(counter: "9", records: records).utf8)
        try bytes.write(to: folder.appendingPathComponent("t.plist"))
        let store = try RecordStore(at: folder)
        let report = try store.repair("t")
        #expect(report.lostCount == lost, "\(element): \(report.notes)")
        #expect(try report.backups.map { try Data(contentsOf: $0) } == [bytes])
        let table = try store.table("t").lastSnapshot
        #expect(table.ids.map(\.rawValue) == (1...count).map(Int64.init), "\(element)")
        for record in table {
          let isWrong = record.id.rawValue == Int64((count + 1) / 2)
          var expected: Fields = ["before": 1, "after": "<x"]
          if isWrong { expected["w"] = value }
          #expect(record.fields == expected, "\(element)")
        }
        try store.checkInvariants()
      }
    }
  }

  @Test(arguments: [1, 2, 5]) func tableOfWhichNothingCanBeReadIsNotTakenForAnEmptyOne(count: Int) throws {
    let bad = "<dict><string>no key</string></dict>"
    try withTemporaryFolder { folder in
      let bytes = Data(tableText(counter: "9", records: Array(repeating: bad, count: count)).utf8)
      try bytes.write(to: folder.appendingPathComponent("t.plist"))
      let report = try RecordStore(at: folder).repair("t")
      #expect(report.lostCount == count)
      #expect(try report.backups.map { try Data(contentsOf: $0) } == [bytes])
    }
  }

  @Test func commentedOutRecordsStayHidden() throws {
    let text = tableText(records: [record("1"), "<!--", record("2"), "-->", record("3", "<key>a</key>")])
    try withTemporaryFolder { folder in
      try Data(text.utf8).write(to: folder.appendingPathComponent("t.plist"))
      let store = try RecordStore(at: folder)
      #expect(try store.repair("t").lostCount == 1)
      #expect(try store.table("t").lastSnapshot.ids == [1, 3])
    }
  }

  @Test func repairLeavesFileBeyondLimitsAlone() throws {
    try withTemporaryFolder { folder in
      let deep = String(repeating: "<array>", count: 300) + String(repeating: "</array>", count: 300)
      let deepText = tableText(records: [record("1"), record("2", "<key>deep</key>" + deep)])
      let latin =
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"
        + tableText(records: [record("1", "<key>a</key><string>é</string>")]).split(separator: "\n")
        .dropFirst().joined()
      for bytes in [Data(deepText.utf8), try #require(latin.data(using: .isoLatin1))] {
        let file = folder.appendingPathComponent("t.plist")
        try bytes.write(to: file)
        #expect(storeError { _ = try RecordStore(at: folder).repair("t") } != nil)
        #expect(try Data(contentsOf: file) == bytes)
      }
    }
  }

  @Test func repairLeavesFilesThatAreNoTablesAlone() throws {
    for text in [
      "", "hello", "{\"a\": 1}", "<plist><array/></plist>",
      "<plist><dict><key>a</key><string>b</string></dict></plist>",
    ] {
      try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("t.plist")
        try Data(text.utf8).write(to: file)
        let store = try RecordStore(at: folder)
        #expect(storeError { _ = try store.repair("t") }?.code == .notATable)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
      }
    }
  }

  @Test func repairInsideWriteIsRefused() throws {
    try withStore { store in
      try store.table("t").create()
      try store.write { _ in
        #expect(storeError { _ = try store.repair("t") }?.code == .insideWrite)
      }
      #expect(try store.repair("t").backups.isEmpty)
    }
  }
}
