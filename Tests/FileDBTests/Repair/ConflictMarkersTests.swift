import FileDB
import Foundation
import TestSupport
import Testing

/// Tables that git merged as text.
@Suite struct ConflictMarkersTests {
  private static let begin = "<<<<<<< HEAD"
  private static let middle = "======="
  private static let end = ">>>>>>> other"

  /// The lines of the table around record 2, and the line of the first marker.
  private static let conflicts: [(records: [String], line: Int)] = [
    ([record("1"), begin, record("2", "<key>a</key><true/>"), middle, record("2"), end, record("3")], 7),
    (
      [
        record("1"), "<dict><key>wgFileDbSecretId</key><string>2</string><key>a</key>", begin, "<true/>",
        middle,
        "<false/>", end, "</dict>",
      ], 8
    ),
    (
      [
        "<dict><key>wgFileDbSecretId</key><string>2</string><key>a</key><string>one", begin, "two", middle,
        "three",
        end, "</string></dict>",
      ], 7
    ),
    ([record("1"), begin, record("2"), "||||||| base", middle, record("3"), end], 7),
    // Markers that were left behind when somebody resolved the conflict.
    ([record("1"), middle, record("2"), end], 7), ([record("1"), record("2"), end], 8),
    ([record("1"), "||||||| 1a2b3c", record("2")], 7),
    // The sides differ in where a CDATA ends.
    (
      [
        "<dict><key>wgFileDbSecretId</key><string>2</string><key>a</key><string><![CDATA[one", begin,
        "two]]></string>", middle, "]]></string>", end, "</dict>",
      ], 7
    ),
  ]

  @Test(arguments: conflicts.indices, ["\n", "\r\n"])
  func tableWithConflictMarkersIsLeftAlone(number: Int, lineEnd: String) throws {
    let (records, line) = Self.conflicts[number]
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
      for error in errors {
        #expect(error?.code == .conflictMarkers, "\(String(describing: error))")
        #expect(error?.line == line)
        #expect(error?.message.contains("git checkout --merge t.plist") == true)
      }
      #expect(try Data(contentsOf: file) == bytes)
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(".filedb/backups").path))
    }
  }

  @Test func conflictAroundWholeFileIsRecognized() throws {
    try withTemporaryFolder { folder in
      let (ours, theirs) = (tableText(records: [record("1")]), tableText(records: [record("2")]))
      try Data("\(Self.begin)\n\(ours)\(Self.middle)\n\(theirs)\(Self.end)\n".utf8).write(
        to: folder.appendingPathComponent("t.plist"))
      let error = storeError { try RecordStore(at: folder).repair("t") }
      #expect(error?.code == .conflictMarkers && error?.line == 1)
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
      // Nor are they one in a file that is damaged elsewhere.
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
