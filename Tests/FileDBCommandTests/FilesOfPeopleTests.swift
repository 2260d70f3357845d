import FileDB
import Foundation
import TestSupport
import Testing

/// Files as people have them, and what `filedb import` says about them.
@Suite struct FilesOfPeopleTests {
  private func show(_ folder: URL) throws -> String {
    try filedb("show", "t", "--format", "csv", in: folder).output
  }

  @Test func eachErrorNamesOptionThatHelps() throws {
    let cases: [(text: String, options: [String], words: String, help: [String], output: String)] = [
      (
        "a,,a\n1,2,3\n", [], "column 2 has no name; --rename-duplicates gives", ["--rename-duplicates"],
        "id,a,column_2,a_2\n1,1,2,3\n"
      ),
      (
        "a,a\n1,2\n", [], "--header --columns a,b,c names", ["--header", "--columns", "x,y"],
        "id,x,y\n1,1,2\n"
      ),
      ("a,b\n1\n1,2,3\n", [], "--ragged takes", ["--ragged"], "id,a,b,column_3\n1,1,,\n2,1,2,3\n"),
      (
        "Report\n\na,b\n1,2\n", [], "--skip-lines N leaves out lines before the header",
        ["--skip-lines", "2"],
        "id,a,b\n1,1,2\n"
      ),
      (
        "a;b\n1,5;2\n", ["--types", "a=float"], "'1,5' is not a number; --decimal ',' reads",
        ["--decimal", ","], "id,a,b\n1,1.5,2\n"
      ),
      (
        "a,b\n\"5\" pipe,1\n", [], "--quote '' takes quotes as any other character", ["--quote", ""],
        "id,a,b\n1,\"\"\"5\"\" pipe\",1\n"
      ),
      (
        "d\n04.03.2026\n", ["--types", "d=date"], "--date-format '%d.%m.%Y' reads 31.12.2026",
        ["--date-format", "%d.%m.%Y"], "id,d\n1,2026-03-04\n"
      ),
    ]
    for (text, options, words, help, output) in cases {
      try withTemporaryFolder { folder in
        let wrong = try filedb(["import", "-", "t"] + options, in: folder, input: text)
        #expect(wrong.status == 65 && wrong.error.contains(words), "\(wrong.error)")
        #expect(try RecordStore(at: folder).tableNames == [])
        let right = try filedb(["import", "-", "t"] + options + help, in: folder, input: text)
        #expect(right.status == 0, "\(right.error)")
        #expect(try show(folder) == output)
      }
    }
  }

  @Test func skippedRowsNameOptionToo() throws {
    try withTemporaryFolder { folder in
      let text = "a,b\n1\n2,3\n4\n5\n"
      let result = try filedb("import", "-", "t", "--on-error", "skip", in: folder, input: text)
      #expect(result.error.split(separator: "\n").count { $0.contains("--ragged") } == 1, "\(result.error)")
      #expect(result.error.contains("expected 2 fields, found 1; --ragged takes rows"), "\(result.error)")
      #expect(result.status == 0)
    }
  }

  @Test func columnThatStaysTextSaysWhy() throws {
    let cases: [(text: String, message: String, options: [String], output: String)] = [
      (
        "p\n1.50\n1.99\n",
        "p: text, because '1.50' as float would be written 1.5; to change that, give --types p=float\n",
        ["--types", "p=float"], "id,p\n1,1.5\n2,1.99\n"
      ),
      (
        "p\nNaN\n1.99\n",
        "p: text, because 'NaN' as float would be written nan; to change that, give --types p=float\n",
        ["--types", "p=float"], "id,p\n1,nan\n2,1.99\n"
      ),
      (
        "p;q\n1,50;1\n",
        "p: text, because '1,50' is not how FileDB writes a number; to change that, give --decimal ','\n",
        ["--decimal", ","], "id,p,q\n1,1.5,1\n"
      ),
      (
        "p\n31/12/2026\n",
        "p: text, because '31/12/2026' is not how FileDB writes a date; to change that, give --date-format '%d/%m/%Y'\n",
        ["--date-format", "%d/%m/%Y"], "id,p\n1,2026-12-31\n"
      ),
    ]
    for (text, message, options, output) in cases {
      try withTemporaryFolder { folder in
        let first = try filedb("import", "-", "t", in: folder, input: text)
        #expect(first.status == 0 && first.error.contains(message), "\(first.error)")
        try filedb("drop", "t", "--yes", in: folder)
        try filedb("truncate", "t", "--yes", in: folder)
        let again = try filedb(["import", "-", "u"] + options, in: folder, input: text)
        #expect(!again.error.contains("text, because"), "\(again.error)")
        #expect(try filedb("show", "u", "--format", "csv", in: folder).output == output)
      }
    }
    try withTemporaryFolder { folder in
      try filedb("import", "-", "t", "--types", "p=string", in: folder, input: "p\nx\n")
      let result = try filedb("import", "-", "t", in: folder, input: "p\n1.50\n")
      #expect(!result.error.contains("because"), "the table has text there: \(result.error)")
    }
  }

  @Test func daysAreDatesAndLookLikeDays() throws {
    try withTemporaryFolder { folder in
      let text = "d\n2026-03-04\n2026-03-05\n"
      #expect(try filedb("import", "-", "t", in: folder, input: text).error.contains("types:\n  date  d\n"))
      #expect(try filedb("show", "t", "--no-id", in: folder).output == text)
      #expect(try filedb("export", "t", "--no-id", in: folder).output == text)
      #expect(try filedb("get", "t", "1", "d", in: folder).output == "2026-03-04\n")
      #expect(
        try filedb("get", "t", "1", "d", "--format", "json", in: folder).output
          == "\"2026-03-04T00:00:00Z\"\n")
      #expect(try filedb("count", "t", "--where", "d < '2026-03-05'", in: folder).output == "1\n")
      let wrong = try filedb("count", "t", "--where", "d < 2026-03-05", in: folder)
      #expect(wrong.status == 64 && wrong.error.contains("write '2026-03-05'"), "\(wrong.error)")
    }
  }

  @Test func typesOfManyColumnsStayReadable() throws {
    try withTemporaryFolder { folder in
      let numbers = (10..<40).map { "n\($0)" }
      let header = (numbers + ["d", "text"]).joined(separator: ",")
      let row = (numbers.map { _ in "1" } + ["2026-03-04", "x"]).joined(separator: ",")
      let result = try filedb("import", "-", "t", in: folder, input: "\(header)\n\(row)\n")
      let shown = numbers.prefix(12).joined(separator: ", ")
      #expect(
        result.error
          == "types:\n  integer  \(shown), and 18 more\n  date     d\n1 record imported into 't'\n")
    }
  }

  @Test func valueThatLooksLikeAFileSaysHowToReadIt() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try Data("x".utf8).write(to: folder.appendingPathComponent("note.txt"))
      for (value, name) in [("@note.txt", "note.txt"), ("@-", "-")] {
        let result = try filedb("add", "t", "a=\(value)", "b=@nobody", in: folder)
        #expect(
          result.error
            == "'a' is the text '\(value)'; to store what is there, write a:string=@\(name) or a:data=@\(name)\n"
        )
      }
      #expect(try filedb("set", "t", "1", "a=@note.txt", in: folder).error.contains("a:string=@note.txt"))
      #expect(try filedb("set", "t", "1", "a:string=@note.txt", in: folder).error == "")
    }
  }

  @Test func sizeOfALinkedFileIsThatOfTheFile() throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "t", in: folder, input: "a\n1\n")
      let elsewhere = folder.appendingPathComponent("elsewhere")
      try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
      let (file, target) = (folder.appendingPathComponent("t.plist"), elsewhere.appendingPathComponent("t"))
      let commands = [["tables"], ["tables", "--format", "csv"], ["info", "t"]]
      let before = try commands.map { try filedb($0, in: folder).output }
      try FileManager.default.moveItem(at: file, to: target)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
      let after = try commands.map { try filedb($0, in: folder).output }
      #expect(after[..<2] == before[..<2])
      #expect(after[2] == before[2].replacing("t.plist\n", with: "t.plist, a link to \(target.path)\n"))
    }
  }

  @Test func sameFileTwiceSaysThatItAdds() throws {
    try withTemporaryFolder { folder in
      let first = try filedb("import", "-", "t", in: folder, input: "a\n1\n")
      #expect(first.error == "types:\n  integer  a\n1 record imported into 't'\n")
      let second = try filedb("import", "-", "t", in: folder, input: "a\n1\n")
      #expect(
        second.error
          == "1 record imported into 't'\n't' had 1 record before; to change those instead of adding more, give --key FIELD or --ids\n"
      )
      let keyed = try filedb("import", "-", "u", "--key", "a", in: folder, input: "a\n1\n")
      #expect(!keyed.error.contains("before"))
    }
  }

  @Test func excelDeclaresSeparatorAndReadsMark() throws {
    try withTemporaryFolder { folder in
      let text = "sep=;\r\nname;n\r\n\"a;b\";1\r\n"
      #expect(try filedb("import", "-", "t", in: folder, input: text).status == 0)
      #expect(try show(folder) == "id,name,n\n1,a;b,1\n")
      #expect(try filedb("import", "-", "u", "--separator", ";", in: folder, input: text).status == 0)
      try filedb("export", "t", "x.csv", "--encoding", "utf-8-bom", in: folder)
      let bytes = try Data(contentsOf: folder.appendingPathComponent("x.csv"))
      #expect(bytes.starts(with: [0xEF, 0xBB, 0xBF]) && bytes.dropFirst(3).starts(with: Array("id,".utf8)))
      #expect(try filedb("import", "x.csv", "v", "--ids", "--encoding", "utf-8-bom", in: folder).status == 0)
      #expect(try filedb("import", "x.csv", "w", "--ids", in: folder).status == 0)
      let store = try RecordStore(at: folder)
      for name in ["v", "w"] { #expect(try store.table(name).record(with: 1).fields["name"] == "a;b") }
    }
  }

  @Test func optionsForTextAreRefusedForOtherFormats() throws {
    try withTemporaryFolder { folder in
      for options in [
        ["--ragged"], ["--skip-lines", "1"], ["--rename-duplicates"], ["--decimal", "."],
        ["--date-format", "%d.%m.%Y"],
      ] {
        let result = try filedb(["import", "-", "t", "--format", "json"] + options, in: folder, input: "[]")
        #expect(result.status == 64 && result.error.contains("are for csv and tsv"), "\(options): \(result)")
      }
      for (options, words) in [
        (["--skip-lines", "-1"], "must not be negative"), (["--decimal", "x"], "'x' is invalid"),
        (["--date-format", "%d.%m"], "'%d.%m' is invalid"), (["--no-header"], "name the columns"),
      ] {
        let result = try filedb(["import", "-", "t"] + options, in: folder, input: "a\n1\n")
        #expect(result.status == 64 && result.error.contains(words), "\(options): \(result)")
      }
    }
  }

  @Test func wholeNumbersOfOtherProgramsAreTaken() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("schema", "t", "n", "--type", "integer", in: folder)
      #expect(
        try filedb("import", "-", "t", "--format", "ndjson", in: folder, input: "{\"n\": 3.0}\n").status == 0)
      #expect(try filedb("add", "t", "n=4.0", in: folder).status == 0)
      #expect(try show(folder) == "id,n\n1,3\n2,4\n")
      let large = try filedb("add", "t", "n=18446744073709551616", in: folder)
      #expect(large.error.contains("is too large for an integer, which ends at 2^64-1"), "\(large.error)")
      #expect(
        try filedb("import", "-", "t", in: folder, input: "n\n18446744073709551616\n").error.contains(
          "too large for an integer"))
    }
  }
}
