import FileDB
import Foundation
import TestSupport
import Testing

/// A field name that no record has is reported, but is not an error: records of one table may have different fields.
@Suite struct UnknownFieldTests {
  private func withFoods(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let foods = try RecordStore(at: folder).table("food")
      try foods.add(contentsOf: [["name": "Fig", "kcal": 74], ["name": "Butter", "fat": 81.0]])
      try foods.store.close()
      try body(folder)
    }
  }

  @Test(arguments: [
    ["show", "food", "--fields", "name,nope"], ["export", "food", "--fields", "nope"],
    ["show", "food", "--sort", "-nope,name"], ["export", "food", "--sort", "nope"],
    ["show", "food", "--group", "nope"], ["count", "food", "--group", "nope"],
    ["sort", "food", "name", "nope"],
  ])
  func fieldOfNoRecordIsReported(arguments: [String]) throws {
    try withFoods { folder in
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 0)
      #expect(result.error == "no record of 'food' has a field 'nope'\n")
    }
  }

  @Test(arguments: [
    ["show", "food", "--fields", "name,fat", "--sort", "-kcal", "--group", "fat"],
    ["count", "food", "--group", "kcal"], ["sort", "food", "fat", "--dry-run"],
    ["export", "food", "--where", "fat = NULL"],
    ["show", "empty", "--fields", "a"],
  ])
  func fieldOfAnyRecordIsNotReported(arguments: [String]) throws {
    try withFoods { folder in
      try filedb("create", "empty", in: folder)
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 0)
      #expect(!result.error.contains("no record"), "\(result.error)")
    }
  }

  @Test func importRefusesKeyThatIsNotAColumn() throws {
    try withFoods { folder in
      let csv = try filedb("import", "-", "food", "--key", "nmae", in: folder, input: "name,kcal\nFig,74\n")
      #expect(csv.status == 65)
      #expect(
        csv.error == "filedb: standard input: field 'nmae': it is in the key, but no column has this name\n")
      let json = try filedb(
        "import", "-", "food", "--key", "nmae", in: folder, input: "[{\"name\": \"Fig\"}]")
      #expect(json.status == 65)
      #expect(json.error == "filedb: standard input:1:2: field 'nmae': the row has no value for this key\n")
      #expect(try filedb("export", "food", "s.db", in: folder).status == 0)
      let database = try filedb("import", "s.db", "food", "--key", "nmae", in: folder)
      #expect(database.status == 65)
      #expect(
        database.error.hasSuffix("field 'nmae': it is in the key, but no column has this name\n"),
        "\(database.error)")
    }
  }

  @Test(arguments: [
    ["--attach", "a", "--attach", "b", "tables"], ["tables", "--attach", "a", "--attach", "b"],
    ["--attach", "a", "tables", "--attach", "b"],
  ])
  func secondAttachedStoreIsRefused(arguments: [String]) throws {
    try withFoods { folder in
      for name in ["a", "b"] { try filedb("--store", name, "create", name, in: folder) }
      let result = try filedb(arguments, in: folder)
      #expect(result.status == 64)
      #expect(result.error.contains("Only one store can be attached"), "\(result.error)")
      for line in [["--attach", "a", "tables"], ["tables", "--attach", "a"]] {
        let one = try filedb(line, in: folder)
        #expect(one.status == 0 && one.output.contains("a"), "\(one.error)")
      }
    }
  }
}
