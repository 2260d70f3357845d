import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

@Suite struct TableFileTests {
  @Test func tableFileHasCanonicalText() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(["title": "Milk", "n": 2, "z": .data(Data([1, 2, 3])), "zz": [:], "list": [1.5, true]])
      try table.add([:], at: .top)
      try store.checkpoint()
      let text = try String(contentsOf: table.url, encoding: .utf8)
      #expect(
        text == """
          <?xml version="1.0" encoding="UTF-8"?>
          <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
          <plist version="1.0">
          <dict>
          \t<key>autoincrement</key>
          \t<string>2</string>
          \t<key>data</key>
          \t<array>
          \t\t<dict>
          \t\t\t<key>wgFileDbSecretId</key>
          \t\t\t<string>2</string>
          \t\t</dict>
          \t\t<dict>
          \t\t\t<key>list</key>
          \t\t\t<array>
          \t\t\t\t<real>1.5</real>
          \t\t\t\t<true/>
          \t\t\t</array>
          \t\t\t<key>n</key>
          \t\t\t<integer>2</integer>
          \t\t\t<key>title</key>
          \t\t\t<string>Milk</string>
          \t\t\t<key>wgFileDbSecretId</key>
          \t\t\t<string>1</string>
          \t\t\t<key>z</key>
          \t\t\t<data>
          \t\t\tAQID
          \t\t\t</data>
          \t\t\t<key>zz</key>
          \t\t\t<dict/>
          \t\t</dict>
          \t</array>
          \t<key>index</key>
          \t<dict>
          \t\t<key>1</key>
          \t\t<string>1</string>
          \t\t<key>2</key>
          \t\t<string>0</string>
          \t</dict>
          </dict>
          </plist>

          """)
    }
  }

  @Test func tableFileMatchesPlistWriterOutput() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(
        contentsOf: (0..<120).map { ["wg": .integer($0), "wgFileDbSecretIe": "after", "é": "x\r"] })
      try store.table("empty").create()
      // More than is written at once.
      let long = String(repeating: "long ", count: 100)
      try store.table("long").add(
        contentsOf: (0..<25_000).map { ["n": .integer($0), "text": .string(long)] })
      try store.checkpoint()
      for name in ["t", "empty", "long"] {
        let bytes = try [UInt8](Data(contentsOf: store.url(of: name)))
        let parsed = try PlistParser.parse(bytes)
        #expect(try PlistWriter.document(parsed) == bytes)
      }
    }
  }

  @Test func handEditedFileIsReadAndRepaired() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let text = tableText(
        counter: "1",
        records: [record("7", "<!-- mine --><key>a</key><integer>0x10</integer>"), record("3")],
        rest: "<key>index</key><dict><key>7</key><string>5</string></dict><key>owner</key><string>me</string>"
      )
      try Data(text.utf8).write(to: file)
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      #expect(table.lastSnapshot.ids == [7, 3])
      #expect(try table.counter == 7)
      #expect(table.lastSnapshot.index(of: 3) == 1)
      let findings = try store.check("t")
      #expect(findings.map(\.severity) == [.warning, .warning, .warning])
      #expect(findings.map(\.error.line) == [6, 4, 8])

      #expect(try table.add(["b": 1]) == 8)
      try store.checkpoint()
      try store.checkInvariants()
      let root = try PlistParser.parse([UInt8](Data(contentsOf: file))).dict ?? [:]
      #expect(root["owner"] == "me", "what others put there stays")
      #expect(root["index"] == ["7": "0", "3": "1", "8": "2"])
    }
  }

  @Test func refreshReadsOutsideEdits() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      try table.add(["n": 1])
      try store.checkpoint()
      let file = try table.url
      for turn in 2..<20 {
        // In place and of the same length: at most the time of the change shows it.
        var text = try String(contentsOf: file, encoding: .utf8)
        text = text.replacing(
          "<integer>\(turn % 10)</integer>", with: "<integer>\((turn + 1) % 10)</integer>"
        )
        .replacing("<integer>1</integer>", with: "<integer>\((turn + 1) % 10)</integer>")
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
        try store.refresh()
        #expect(try table.value(of: 1)["n"] == .integer(Int64((turn + 1) % 10)))
      }
      try FileManager.default.removeItem(at: file)
      try store.refresh()
      #expect(try !table.exists)
      #expect(try table.add(["n": 1]) == 1)
      try store.checkInvariants()
    }
  }

  @Test func otherFilesInFolderAreNotTables() throws {
    try withStore(.disk) { store in
      try store.table("b").add([:])
      try store.table("a").add([:])
      for name in ["README", "notes.txt", ".hidden.plist"] {
        try Data("text".utf8).write(to: store.url.appendingPathComponent(name))
      }
      try Data(tableText(records: []).utf8).write(to: store.url.appendingPathComponent("bare"))
      #expect(try store.tableNames == ["a", "b", "bare"])
      for name in ["README", "notes.txt", ".hidden.plist", "bare"] {
        try FileManager.default.removeItem(at: store.url.appendingPathComponent(name))
      }
    }
  }

  @Test func openingAndReadingCreateNoFiles() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("not/there"))
      #expect(try store.tableNames == [])
      #expect(try store.table("t").lastSnapshot.isEmpty)
      try store.refresh()
      #expect(try contents(of: folder) == [])
      try store.table("t").add([:])
      #expect(try contents(of: store.url) == [".filedb"], "in the journal")
      #expect(try contents(of: store.url.appendingPathComponent(".filedb")).contains("journal"))
      try store.checkpoint()
      #expect(try contents(of: store.url) == [".filedb", "t.plist"])
      #expect(
        try String(contentsOf: store.url.appendingPathComponent(".filedb/.gitignore"), encoding: .utf8)
          == "*\n")
    }
  }

  @Test func checkpointRemovesDraftsLeftByCrash() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      try store.table("t").add([:])
      try Data("half".utf8).write(to: folder.appendingPathComponent(".t.plist.1a2b3c.filedb-draft"))
      try Data("half".utf8).write(to: folder.appendingPathComponent(".filedb/.journal.1a.filedb-draft"))
      // An export may still be writing the first, but not the second.
      for (name, age) in [(".x.csv.1a.filedb-export", 60.0), (".x.csv.2b.filedb-export", 7_200)] {
        let draft = folder.appendingPathComponent(name)
        try Data("half".utf8).write(to: draft)
        try FileManager.default.setAttributes([.modificationDate: Date() - age], ofItemAtPath: draft.path)
      }
      #expect(try store.tableNames == ["t"])
      try store.checkpoint()
      #expect(
        try contents(of: folder.appendingPathComponent(".filedb")) == [
          ".gitignore", "checkpoint", "journal", "lock", "queue",
        ])
      #expect(try contents(of: folder) == [".filedb", ".x.csv.1a.filedb-export", "t.plist"])
    }
  }

  /// An export does not hold the store's lock.
  @Test func checkpointLeavesTheDraftOfAnExport() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
      try store.table("t").add(["n": 1])
      let file = folder.appendingPathComponent("x.csv")
      try StoreDisk.system.writeFile(file.path) { append in
        try append(Array("half, ".utf8))
        try store.checkpoint()
        try append(Array("whole".utf8))
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == "half, whole")
    }
  }

  @Test func onlyOldDraftsBesideLinkedTableAreRemoved() throws {
    try withTemporaryFolder { folder in
      let other = folder.appendingPathComponent("other")
      let store = try RecordStore(at: folder.appendingPathComponent("store"))
      try store.table("t").add(["n": 1])
      try store.checkpoint()
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
      let target = other.appendingPathComponent("t.plist")
      try FileManager.default.moveItem(at: store.url.appendingPathComponent("t.plist"), to: target)
      try FileManager.default.createSymbolicLink(
        at: store.url.appendingPathComponent("t.plist"), withDestinationURL: target)
      for (name, age) in [(".t.plist.1a.filedb-draft", 7_200.0), (".t.plist.2b.filedb-draft", 60)] {
        let draft = other.appendingPathComponent(name)
        try Data("half".utf8).write(to: draft)
        try FileManager.default.setAttributes([.modificationDate: Date() - age], ofItemAtPath: draft.path)
      }
      try RecordStore(at: store.url).table("t").add(["n": 2])
      #expect(try contents(of: other) == [".t.plist.2b.filedb-draft", "t.plist"])
      #expect(
        try FileManager.default.destinationOfSymbolicLink(atPath: store.url.path + "/t.plist") == target.path)
    }
  }

  @Test(.enabled(if: sharedFolderHas("corpus/wgfiledb"), "needs ../shared/corpus/wgfiledb"))
  func wgFileDbFilesOpenAndKeepTheirNames() throws {
    try withTemporaryFolder { folder in
      for name in ["todo", "empty"] {
        let original = sharedFolder.appendingPathComponent("corpus/wgfiledb/\(name)")
        try Data(contentsOf: original).write(to: folder.appendingPathComponent(name))
      }
      let store = try RecordStore(at: folder)
      #expect(try store.tableNames == ["empty", "todo"])
      let todo = try store.table("todo")
      #expect(todo.lastSnapshot.ids == [7, 1, 2, 5, 4, 6])
      #expect(try todo.value(of: 2)["title"] == "Call Jiří")
      #expect(try todo.add(["title": "new"], at: .top) == 8)
      #expect(try store.table("empty").add(["title": "new"]) == 2)
      #expect(try contents(of: folder) == [".filedb", "empty", "todo"])
      try store.checkInvariants()
    }
  }
}
