import FileDB
import Foundation
import TestSupport
import Testing

/// Records of several versions, and records that somebody saved against the rules.
@Suite struct SchemaVersionTests {
  private func withNotes(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let notes = try store.table("notes")
      try notes.add(contentsOf: [
        ["wgFileDbVersion": 2, "title": "A", "stars": "3"], ["wgFileDbVersion": 2, "stars": 1],
        ["wgFileDbVersion": 1, "name": "C"], ["name": "D"],
      ])
      try store.close()
      // Another program declares the newest shape, and looks at nothing.
      let text = try String(contentsOf: notes.url, encoding: .utf8)
      let schema = """
        \t<key>schema</key><dict><key>format</key><string>filedb 1</string><key>version</key><integer>2</integer>
        <key>fields</key><array>
        <dict><key>name</key><string>title</string><key>required</key><true/><key>default</key><string>New</string></dict>
        <dict><key>name</key><string>stars</string><key>type</key><string>integer</string></dict></array></dict>
        </dict>
        </plist>
        """
      try text.replacing("</dict>\n</plist>", with: schema).write(
        to: notes.url, atomically: true, encoding: .utf8)
      try body(folder)
      #expect(try RecordStore(at: folder).check("notes").allSatisfy { $0.severity == .warning })
    }
  }

  @Test func versionsOfTheRecordsAreCountedAndOldOnesLeftToTheirProgram() throws {
    try withNotes { folder in
      let shown = try filedb("schema", "notes", in: folder).output
      #expect(
        shown.hasSuffix("version: 2\nrecords: 2 of version 2, 1 of version 1, 1 without a version\n"),
        "\(shown)")
      let trial = try filedb("schema", "notes", "--migrate", "--dry-run", in: folder)
      let result = try filedb("schema", "notes", "--migrate", in: folder)
      #expect(trial.output == result.output)
      #expect(
        result.output == """
          record 1: field 'stars': '3' became 3
          record 2: field 'title': it was missing, and became 'New'
          record 3: field 'title': the field is required
          record 4: field 'title': the field is required

          """, "\(result.output)")
      #expect(result.status == 65)
      #expect(
        result.error.hasSuffix(
          "2 records changed\n2 records of an older version: only the program that declared the schema can migrate them\n"
        ),
        "\(result.error)")
      let records = try RecordStore(at: folder).table("notes").snapshot().map(\.fields)
      #expect(records[0]["stars"] == 3 && records[1]["title"] == "New" && records[2]["title"] == nil)
      #expect(try filedb("undo", in: folder).status == 0)
      #expect(try RecordStore(at: folder).table("notes").snapshot().map(\.fields)[0]["stars"] == "3")
    }
  }

  @Test func whatWasSavedAgainstTheRulesComesBackByUndo() throws {
    try withNotes { folder in
      let before = try RecordStore(at: folder).table("notes").snapshot().map(\.fields)
      #expect(try filedb("repair", in: folder).output.contains("record 1: field 'stars': '3' became 3"))
      #expect(try filedb("delete", "notes", "4", in: folder).status == 0)
      #expect(try filedb("set", "notes", "1", "title=B", in: folder).status == 0)
      for _ in 0..<3 {
        let undone = try filedb("undo", in: folder)
        #expect(undone.status == 0, "\(undone.error)")
      }
      #expect(try RecordStore(at: folder).table("notes").snapshot().map(\.fields) == before)
      for _ in 0..<3 { #expect(try filedb("redo", in: folder).status == 0) }
      #expect(try filedb("count", "notes", in: folder).output == "3\n")
    }
  }
}
