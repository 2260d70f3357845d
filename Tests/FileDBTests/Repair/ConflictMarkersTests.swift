import FileDB
import Foundation
import TestSupport
import Testing

/// Tables that git merged as text.
@Suite struct ConflictMarkersTests {
  private static let begin = "<<<<<<< HEAD"
  private static let middle = "======="
  private static let end = ">>>>>>> other"

  private static let start = "<dict><key>wgFileDbSecretId</key><string>2</string><key>a</key>"

  /// The lines of the table around record 2, and the result.
  private static let conflicts: [(records: [String], merged: [String])] = [
    (
      [record("1"), begin, record("2", "<key>a</key><true/>"), middle, record("2"), end, record("3")],
      ["1 [:]", #"2 ["a": true]"#, "3 [:]"]
    ),
    // Too different to be one record.
    (
      [record("1"), start, begin, "<true/>", middle, "<false/>", end, "</dict>"],
      ["1 [:]", #"2 ["a": true]"#, #"10 ["a": false]"#]
    ),
    (
      [start + "<string>one", begin, "two", middle, "three", end, "</string></dict>"],
      [#"2 ["a": "one\ntwo\n"]"#, #"10 ["a": "one\nthree\n"]"#]
    ),
    // A base says who did what: theirs changed the field, ours did not.
    (
      [record("1"), start, begin, "<true/>", "||||||| base", "<true/>", middle, "<false/>", end, "</dict>"],
      ["1 [:]", #"2 ["a": false]"#]
    ),
    (
      [
        record("1"), begin, record("2"), "||||||| base", record("4", "<key>a</key><true/>"), middle,
        record("3"), end,
      ],
      ["1 [:]", "2 [:]", "3 [:]"]
    ),
    // A line of text that looks like a marker.
    (
      [
        start, begin, "<string>Head", middle, "one</string>", middle, "<string>Head", middle, "two</string>",
        end,
        "</dict>",
      ], [#"2 ["a": "Head\n=======\none"]"#, #"10 ["a": "Head\n=======\ntwo"]"#]
    ),
    // The sides differ in where a CDATA ends.
    (
      [start + "<string><![CDATA[one", begin, "two]]></string>", middle, "]]></string>", end, "</dict>"],
      [#"2 ["a": "one\ntwo"]"#, #"10 ["a": "one\n"]"#]
    ),
  ]

  @Test(arguments: conflicts.indices) func versionsBetweenMarkersAreMerged(number: Int) throws {
    try withTemporaryFolder { folder in
      let original = Data(tableText(records: Self.conflicts[number].records).utf8)
      try original.write(to: folder.appendingPathComponent("t.plist"))
      let store = try RecordStore(at: folder)
      #expect(storeError { _ = try store.table("t").lastSnapshot }?.code == .conflictMarkers)
      let report = try store.repair("t")
      #expect(
        try store.table("t").snapshot().map { "\($0.id) \($0.fields)" } == Self.conflicts[number].merged)
      #expect(try Data(contentsOf: #require(report.backups.first)) == original)
      try store.checkInvariants()
    }
  }

  /// Conflicts that are no longer whole, and the line of the first marker.
  private static let remains: [(records: [String], line: Int)] = [
    ([record("1"), middle, record("2"), end], 7), ([record("1"), record("2"), end], 8),
    ([record("1"), "||||||| 1a2b3c", record("2")], 7), ([record("1"), begin, record("2"), middle], 7),
    ([start, begin, "<true/>", middle, "<false/>", "<false/>", end, "</dict>"], 7),
    // Two ways to read it.
    (
      [start + "<string>", begin, "one", middle, "two", middle, "three", end, "</string></dict>"], 7
    ),
  ]

  @Test(arguments: remains.indices, ["\n", "\r\n"])
  func tableWithUnclearMarkersIsLeftAlone(number: Int, lineEnd: String) throws {
    let (records, line) = Self.remains[number]
    let bytes = Data(tableText(records: records).replacing("\n", with: lineEnd).utf8)
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      try bytes.write(to: file)
      let store = try RecordStore(at: folder)
      let finding = try #require(store.check("t").first)
      #expect(finding.severity == .damage)
      let errors = [
        finding.error, storeError { _ = try store.table("t").lastSnapshot },
        storeError { _ = try store.repairPlan(for: "t") }, storeError { try store.repair("t") },
        storeError { try store.repair("t", keeping: .file) },
        storeError { _ = try TableSnapshot<Fields>(contentsOf: file) },
      ]
      for (number, error) in errors.enumerated() {
        #expect(error?.code == .conflictMarkers, "\(String(describing: error))")
        #expect(error?.line == line)
        let help =
          (2...4).contains(number) ? "'git checkout --merge t.plist'" : "'filedb repair' merges both versions"
        #expect(error?.message.contains(help) == true)
      }
      #expect(try Data(contentsOf: file) == bytes)
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(".filedb/backups").path))
    }
  }

  @Test func conflictAroundWholeFileIsMerged() throws {
    try withTemporaryFolder { folder in
      let (ours, theirs) = (tableText(records: [record("1")]), tableText(records: [record("2")]))
      try Data("\(Self.begin)\n\(ours)\(Self.middle)\n\(theirs)\(Self.end)\n".utf8).write(
        to: folder.appendingPathComponent("t.plist"))
      let store = try RecordStore(at: folder)
      #expect(storeError { _ = try store.table("t").lastSnapshot }?.line == 1)
      try store.repair("t")
      #expect(try store.table("t").snapshot().ids == [1, 2])
      try store.checkInvariants()
    }
  }

  /// Commits that wait in the journal change nothing about it.
  @Test func tableWithWaitingCommitsIsLeftAlone() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let manual = StoreOptions(checkpoints: .manual)
      let store = try RecordStore(at: folder, options: manual)
      try store.table("t").add(["a": 1])
      try store.table("u").add(["a": 1])
      try store.checkpoint()
      try store.table("t").add(["a": 2])
      try store.table("u").add(["a": 2])
      let sound = try String(contentsOf: file, encoding: .utf8)
      let broken = Data(
        sound.replacing("\t\t<dict>", with: "\(Self.begin)\n\t\t<dict>\n\(Self.middle)\n\(Self.end)\n").utf8)
      try broken.write(to: file)
      let again = try RecordStore(at: folder, options: manual)
      for choice in ConflictChoice.allCases {
        let error = storeError { try again.repair("t", keeping: choice) }
        #expect(error?.code == .conflictMarkers, "\(choice): \(String(describing: error))")
      }
      #expect(try again.table("u").count == 2)
      #expect(try Data(contentsOf: file) == broken)
      // Once the conflict is resolved, the commits are there.
      try Data(sound.utf8).write(to: file)
      let resolved = try RecordStore(at: folder, options: manual)
      #expect(try resolved.table("t").lastSnapshot.map { $0["a"] } == [1, 2])
      try resolved.checkpoint()
      try resolved.checkInvariants()
    }
  }

  private static let text = [begin, "ours", middle, "theirs", end].joined(separator: "\n")

  @Test(arguments: [
    "<key>a</key><string><![CDATA[\n\(text)\n]]></string>",
    "<key>a</key><string>\n\(text.replacing("<", with: "&lt;"))\n</string>", "<!--\n\(text)\n-->",
  ]) func markersInTextAreNoConflict(fields: String) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let sound = tableText(records: [record("1", fields), record("2")])
      try Data(sound.utf8).write(to: file)
      #expect(try RecordStore(at: folder).table("t").count == 2)
      // They are not a conflict in a file that is damaged elsewhere either.
      let damages: [(from: String, to: String)] = [
        ("<key>autoincrement</key>", "<key>autoincr"), ("</array>", "</arr"),
      ]
      for (from, to) in damages {
        try Data(sound.replacing(from, with: to).utf8).write(to: file)
        let store = try RecordStore(at: folder)
        try store.repair("t")
        #expect(try store.table("t").count == 2, "\(to)")
        try store.checkInvariants()
      }
    }
  }
}
