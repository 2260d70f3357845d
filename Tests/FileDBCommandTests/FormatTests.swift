import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// How `filedb import` and `filedb export` find the format that nobody names.
@Suite struct FormatTests {
  private func withFoods(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let foods = try RecordStore(at: folder).table("food")
      try foods.add(contentsOf: [["name": "Fig", "kcal": 74], ["name": "Butter", "kcal": 717]])
      try foods.store.close()
      try body(folder)
    }
  }

  private func names(_ table: String, in folder: URL) throws -> [PlistValue?] {
    try RecordStore(at: folder).table(table).lastSnapshot.map { $0.fields["name"] }
  }

  @Test(arguments: ["csv", "json", "ndjson", "plist", "binary-plist"])
  func importDetectsFormatByContent(format: String) throws {
    try withFoods { folder in
      let made = try shell(
        """
        filedb export food - --format \(format) > all.dat; filedb import - u < all.dat; filedb import all.dat v
        mkfifo p.dat; cat all.dat > p.dat & filedb import p.dat w
        """, in: folder)
      #expect(made.status == 0, "\(made.error)")
      for table in ["u", "v", "w"] { #expect(try names(table, in: folder) == ["Fig", "Butter"], "\(table)") }
    }
  }

  @Test(arguments: [
    "[{\"name\": \"Fig\"}]", "\u{FEFF}\n\t [{\"name\": \"Fig\"}]", "{\"name\": \"Fig\"}",
    " {\"name\": \"Fig\"}\n",
    "<plist version=\"1.0\"><array><dict><key>name</key><string>Fig</string></dict></array></plist>",
    "<!DOCTYPE plist><plist version=\"1.0\"><array><dict><key>name</key><string>Fig</string></dict></array></plist>",
    "\u{FEFF}<?xml version=\"1.0\"?><plist><array><dict><key>name</key><string>Fig</string></dict></array></plist>",
    String(repeating: "\n", count: 300_000) + "[{\"name\": \"Fig\"}]", "name\nFig\n", "\u{FEFF}name\nFig\n",
  ])
  func formatIsDetectedByStartOfText(text: String) throws {
    try withTemporaryFolder { folder in
      let result = try filedb("import", "-", "u", in: folder, input: text)
      #expect(result.error == "1 record imported into 'u'\n")
      #expect(try names("u", in: folder) == ["Fig"])
    }
  }

  @Test func givenFormatOrExtensionOverridesContent() throws {
    try withTemporaryFolder { folder in
      let text = "[name],{x}\nFig,1\n"
      for options in [["--format", "csv"], ["--separator", ","], ["--header"], ["--encoding", "utf-8"]] {
        try Data(text.utf8).write(to: folder.appendingPathComponent("f.dat"))
        let result = try filedb(["import", "f.dat", "t"] + options, in: folder)
        #expect(result.status == 0, "\(options): \(result.error)")
      }
      try Data(text.utf8).write(to: folder.appendingPathComponent("f.csv"))
      #expect(try filedb("import", "f.csv", "t", in: folder).status == 0)
      #expect(try RecordStore(at: folder).table("t").lastSnapshot.count == 5)
      #expect(try filedb("import", "-", "t", in: folder, input: text).status == 65)
    }
  }

  @Test(arguments: ["cat s.db | filedb import - u", "mkfifo p; cat s.db > p & filedb import p u"])
  func databaseFromStreamIsRefused(line: String) throws {
    try withFoods { folder in
      #expect(try filedb("export", "food", "s.db", in: folder).status == 0)
      let result = try shell(line, in: folder)
      #expect(result.status == 64)
      #expect(
        result.error.contains("is a SQLite database, which cannot be read from a stream"), "\(result.error)")
      #expect(try RecordStore(at: folder).tableNames == ["food"])
    }
  }

  @Test(arguments: ["t.xml", "t.xyz", "T.XLSX"]) func exportToUnknownExtensionNeedsFormat(file: String) throws
  {
    try withFoods { folder in
      let result = try filedb("export", "food", file, in: folder)
      #expect(result.status == 64)
      #expect(
        result.error.contains("--format: csv, tsv, json, ndjson, plist, binary-plist, sqlite"),
        "\(result.error)")
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path))
      #expect(try filedb("export", "food", file, "--format", "json", in: folder).status == 0)
      #expect(try filedb("export", "food", file, "--separator", ";", in: folder).status == 0)
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      #expect(text == "id;kcal;name\n1;74;Fig\n2;717;Butter\n")
    }
  }

  @Test(arguments: ["t.txt", "t", "t.CSV"]) func exportDefaultsToCSV(file: String) throws {
    try withFoods { folder in
      #expect(try filedb("export", "food", file, in: folder).status == 0)
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      #expect(text == "id,kcal,name\n1,74,Fig\n2,717,Butter\n")
    }
  }
}
