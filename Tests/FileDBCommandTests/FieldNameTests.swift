import FileDB
import FileDBPlist
import Foundation
import TestSupport
import Testing

/// Names of fields on the command line: the id, a field that is called `id`, values in dictionaries.
@Suite struct FieldNameTests {
  private func withRecords(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let table = try RecordStore(at: folder).table("t")
      try table.add(contentsOf: [
        ["v": "a", "address": ["city": "Köln", "zip": 5], "a.b": "flat"],
        ["v": "b", "id": "own", "address": ["city": "Bonn"]],
      ])
      try table.store.close()
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private func fields(_ id: RecordID<Fields>, in folder: URL) throws -> Fields {
    try RecordStore(at: folder).table("t").lastSnapshot.record(with: id).fields
  }

  @Test(arguments: [
    (["show", "t", "--sort", "-id", "--fields", "v"], "id,v\n2,b\n1,a\n"),
    (["show", "t", "--fields", "id"], "id\n1\n2\n"),
    (["show", "t", "--fields", "v,id,fields.id"], "v,id,fields.id\na,1,\nb,2,own\n"),
    (["show", "t", "--group", "id", "--fields", "v"], "id,v\n1,a\n2,b\n"),
    (
      ["show", "t", "--sort", "address.city", "--fields", "address.city"], "id,address.city\n2,Bonn\n1,Köln\n"
    ),
    (["show", "t", "--group", "address.zip", "--fields", "v"], "id,v\n1,a\n2,b\n"),
    (
      ["show", "t", "--where", "address.city = 'Bonn' AND fields.id = 'own'", "--fields", "v"], "id,v\n2,b\n"
    ),
    (
      ["show", "t", "--where", "a\\.b = 'flat' AND #'a.b' = 'flat'", "--fields", "a\\.b"], "id,a.b\n1,flat\n"
    ),
    (["export", "t", "-", "--sort", "fields.id", "--fields", "fields.id"], "id,fields.id\n2,own\n1,\n"),
  ])
  func fieldIsNamedAlikeEverywhere(arguments: [String], output: String) throws {
    try withRecords { folder in
      let result = try filedb(arguments + ["--format", "csv"], in: folder)
      #expect(result == ToolResult(output: output, error: "", status: 0))
    }
  }

  @Test func chosenValueOfDictionaryStaysInDictionaryOfJSON() throws {
    try withRecords { folder in
      let arguments = ["show", "t", "--fields", "address.zip,id,v", "--format", "ndjson"]
      let result = try filedb(arguments, in: folder)
      #expect(
        result.output
          == #"{"id": 1, "address": {"zip": 5}, "v": "a"}"# + "\n" + #"{"id": 2, "v": "b"}"# + "\n")
    }
  }

  @Test(arguments: [
    (["id"], "2\n"), (["fields.id"], "own\n"), (["address.city"], "Bonn\n"),
    (["address"], "{\"city\": \"Bonn\"}\n"), (["fields.id", "--format", "json"], "\"own\"\n"),
    (["id", "--format", "json"], "2\n"), (["address", "--format", "ndjson"], "{\"city\": \"Bonn\"}\n"),
    (["v", "--format", "csv"], "id,v\n2,b\n"),
    (
      ["--format", "json"],
      "{\"id\": 2, \"address\": {\"city\": \"Bonn\"}, \"fields.id\": \"own\", \"v\": \"b\"}\n"
    ),
    ([], "id         2\naddress    {\"city\": \"Bonn\"}\nfields.id  own\nv          b\n"),
  ])
  func getPrintsRecordOrFieldByItself(arguments: [String], output: String) throws {
    try withRecords { folder in
      let result = try filedb(["get", "t", "2"] + arguments, in: folder)
      #expect(result == ToolResult(output: output, error: "", status: 0))
    }
  }

  @Test func getPrintsPropertyListOfRecordOrField() throws {
    try withRecords { folder in
      func plist(_ arguments: String...) throws -> PlistValue {
        let output = try filedb(["get", "t", "2", "--format", "plist"] + arguments, in: folder).output
        return try PlistParser.parse(Array(output.utf8))
      }
      let address = try plist("address")
      #expect(address == ["city": "Bonn"])
      #expect(
        try plist() == ["address": ["city": "Bonn"], "id": "own", "v": "b", "wgFileDbSecretId": "2"])
    }
  }

  @Test func dottedFieldGoesIntoDictionaries() throws {
    try withRecords { folder in
      let added = try filedb("add", "t", "address.geo.lat:float=1.5", "x\\.y=1", "fields.id=new", in: folder)
      #expect(added.output == "3\n")
      #expect(try fields(3, in: folder) == ["address": ["geo": ["lat": 1.5]], "x.y": "1", "id": "new"])
      #expect(
        try filedb("set", "t", "1", "address.city=Ulm", "address.geo.lat:integer=2", in: folder).status == 0)
      #expect(
        try fields(1, in: folder)
          == ["v": "a", "address": ["city": "Ulm", "zip": 5, "geo": ["lat": 2]], "a.b": "flat"])
      #expect(
        try filedb("set", "t", "--where", "address.city = 'Ulm'", "address.city=Ulm", in: folder).error
          == "0 records changed\n")
      let script = "unset t 1 address.zip address.geo.lat a\\\\.b nope.x v.x\nset t 2 fields.id=\n"
      #expect(try filedb("batch", in: folder, input: script).status == 0)
      #expect(try fields(1, in: folder) == ["v": "a", "address": ["city": "Ulm", "geo": [:]]])
      #expect(try fields(2, in: folder) == ["v": "b", "id": "", "address": ["city": "Bonn"]])
      #expect(try filedb("unset", "t", "2", "fields.id", in: folder).status == 0)
      #expect(try fields(2, in: folder) == ["v": "b", "address": ["city": "Bonn"]])
    }
  }

  @Test(arguments: [
    (["set", "t", "2", "v.x=1"], 65, "record 2: field 'v': it holds <string>, not a dictionary"),
    (["set", "t", "1", "address.city.x=1"], 65, "record 1: field 'address.city': it holds <string>, not a"),
    (["set", "t", "--where", "v = 'b'", "v.x=1"], 65, "record 2: field 'v': it holds <string>"),
    (["set", "t", "1", "id=5"], 64, "'id' is the record's id, which cannot be changed"),
    (["add", "t", "id=5"], 64, "write 'fields.id'"),
    (["unset", "t", "1", "id"], 64, "'id' is the record's id"),
    (["set", "t", "1", "a..b=5"], 64, "'a..b' names no field"),
    (["set", "t", "1", "id.x=5"], 64, "names no field"),
    (["add", "t", "a=1", "a.b=2"], 64, "The field 'a.b' is given twice"),
    (["show", "t", "--sort", "a."], 64, "'a.' names no field"),
    (["show", "t", "--fields", ".a"], 64, "names no field"),
  ])
  func fieldThatCannotBeSetIsNamed(arguments: [String], status: Int, words: String) throws {
    try withRecords { folder in
      let before = try Data(contentsOf: folder.appendingPathComponent("t.plist"))
      let result = try filedb(arguments, in: folder)
      #expect(result.status == status && result.output == "", "\(arguments)")
      #expect(result.error.contains(words), "\(result.error)")
      #expect(try Data(contentsOf: folder.appendingPathComponent("t.plist")) == before)
    }
  }

  @Test(arguments: ["f.csv", "f.tsv", "f.json", "f.ndjson", "f.plist", "f.db"], [[], ["--ids"]])
  func fieldNamedIDSurvivesTrips(file: String, options: [String]) throws {
    try withRecords { folder in
      try filedb("unset", "t", "1", "address", in: folder)
      try filedb("unset", "t", "2", "address", in: folder)
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("out"), withIntermediateDirectories: true)
      var table = "t"
      for trip in 1...3 {
        let path = "out/\(trip)-\(file)"
        try filedb("export", table, path, in: folder)
        let source = file == "f.db" ? ["--table", table, "--ids"] : options
        table = "t\(trip)"
        let result = try filedb(["import", path, table] + source, in: folder)
        #expect(result.status == 0, "\(result.error)")
      }
      let records = try RecordStore(at: folder).table("t3").lastSnapshot.map(\.fields)
      #expect(records == [["v": "a", "a.b": "flat"], ["v": "b", "id": "own"]])
    }
  }

  @Test func sortTakesKeysBehindTerminator() throws {
    try withRecords { folder in
      func ids() throws -> [RecordID<Fields>] { try RecordStore(at: folder).table("t").lastSnapshot.ids }
      let result = try filedb("sort", "t", "--", "-v", in: folder)
      #expect(result.status == 0)
      #expect(try ids() == [2, 1])
      #expect(try filedb("sort", "t", "id", in: folder).status == 0)
      #expect(try ids() == [1, 2])
      #expect(try filedb("sort", "t", "address.city", "--", "-id", in: folder).status == 0)
      #expect(try ids() == [2, 1])
      #expect(try filedb("sort", "t", "-fields.id", in: folder).error == "")
    }
  }

  @Test(arguments: [
    (["show", "t", "--sort", "adress.city"], "'adress.city'; did you mean 'address.city'?"),
    (["show", "t", "--fields", "vv"], "'vv'; did you mean 'v'?"),
    (["count", "t", "--group", "address.ctiy"], "'address.ctiy'; did you mean 'address.city'?"),
    (["sort", "t", "V"], "'V'; did you mean 'v'?"),
  ])
  func mistypedFieldGetsTheNearestName(arguments: [String], words: String) throws {
    try withRecords { folder in
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 0)
      #expect(result.error == "no record of 't' has a field \(words)\n")
    }
  }

  /// Text in place of a number would be missing in sums and comparisons.
  @Test func textInAFieldOfNumbersIsNoticed() throws {
    try withTemporaryFolder { folder in
      try filedb("import", "-", "t", in: folder, input: "n,s,d\n1,a,2026-01-01T00:00:00Z\n2,b,\n")
      for (words, message) in [
        (
          ["set", "t", "1", "n=5"],
          "'n' is stored as text, although record 1 has a whole number there; to store one, write n:integer=5\n"
        ),
        (["add", "t", "n=5"], "write n:integer=5\n"),
        (["add", "t", "d=2026-02-01"], "write d:date=2026-02-01\n"),
        (["set", "t", "2", "n=x"], ""), (["set", "t", "1", "s=5"], ""),
        (["set", "t", "1", "n:integer=5"], ""),
        (["set", "t", "1", "new=5"], ""),
      ] {
        let result = try filedb(words + ["--dry-run"], in: folder)
        let error = result.error.replacing("dry run: nothing was written\n", with: "")
        #expect(
          result.status == 0 && (message.isEmpty ? error.isEmpty : error.hasSuffix(message)),
          "\(words): \(result)")
      }
      try filedb("schema", "t", "n", "--type", "integer", in: folder)
      #expect(try filedb("set", "t", "1", "n=5", in: folder).error.isEmpty)
      #expect(try filedb("count", "t", "--where", "n = 5", in: folder).output == "1\n")
      try RecordStore(at: folder).checkInvariants()
    }
  }

  /// In a condition, `v[0]` is an element of an array. A write must not make a field of this name.
  @Test func elementOfAnArrayIsNotTakenForAField() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "v:json=[1,2]", in: folder)
      for command in [
        ["set", "t", "1", "v[0]:integer=9"], ["add", "t", "a.v[LAST]=1"], ["unset", "t", "1", "v[1]"],
      ] {
        let result = try filedb(command, in: folder)
        #expect(result.status == 64 && result.error.contains("is an element of an array"), "\(result)")
      }
      #expect(try filedb("count", "t", "--where", "v[0] = 1", in: folder).output == "1\n")
      // A field may have such a name.
      try filedb("set", "t", "1", #"v\[0]=own"#, "x[]=1", "[0]=2", in: folder)
      #expect(try filedb("get", "t", "1", #"v\[0]"#, in: folder).output == "own\n")
      #expect(try fields(1, in: folder)["v[0]"] == "own" && fields(1, in: folder)["x[]"] == "1")
      #expect(try fields(1, in: folder)["[0]"] == "2" && fields(1, in: folder)["v"] == [1, 2])
      try filedb("unset", "t", "1", #"v\[0]"#, in: folder)
      #expect(try fields(1, in: folder)["v[0]"] == nil)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func infoNamesTypesAsAssignmentsDo() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      let types = [
        "string=a", "integer=1", "float=1", "bool=yes", "date=2026-01-01", "data=AQI=", "json=[1]",
      ]
      try filedb(["add", "t"] + types.map { "f_\($0.prefix { $0 != "=" }):\($0)" }, in: folder)
      let lines = try filedb("info", "t", in: folder).output.split(separator: "\n").filter {
        $0.hasPrefix("f_")
      }
      #expect(lines.count == 7)
      for line in lines {
        let words = line.split(separator: " ")
        #expect(words[0] == "f_" + words[1], "\(line)")
      }
    }
  }
}
