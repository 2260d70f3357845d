import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct CountTests {
  private func withFoods(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let csv = """
        name,group,kcal,weight
        leek,b,61,0.1
        apple,a,52,
        pear,a,57,0.2
        salt,,0,0.3

        """
      try filedb(
        "import", "-", "foods", "--format", "csv", "--types", "kcal=integer,weight=float", in: folder,
        input: csv)
      try body(folder)
    }
  }

  @Test func countAloneIsANumber() throws {
    try withFoods { folder in
      let count = try filedb("count", "foods", in: folder)
      #expect(count.output == "4\n")
      #expect(try filedb("count", "foods", "--format", "json", in: folder).output == "{\"records\": 4}\n")
      #expect(try filedb("count", "foods", "--format", "csv", in: folder).output == "records\n4\n")
    }
  }

  @Test func wholeTableIsAddedUp() throws {
    try withFoods { folder in
      let result = try filedb(
        "count", "foods", "--sum", "kcal,weight", "--average", "kcal", "--minimum", "name,weight",
        "--maximum",
        "id", in: folder)
      #expect(
        result.output == """
          records  sum(kcal)  sum(weight)  average(kcal)  minimum(name)  minimum(weight)  maximum(id)
                4        170          0.6           42.5  apple                      0.1            4

          """)
      #expect(result.error == "")
    }
  }

  @Test func groupsComeInTheOrderOfTheirFirstRecords() throws {
    try withFoods { folder in
      #expect(
        try filedb("count", "foods", "--group", "group", "--sum", "kcal", in: folder).output == """
          group   records  sum(kcal)
          b             1         61
          a             2        109
          (none)        1          0

          """)
      #expect(
        try filedb(
          "count", "foods", "--group", "group", "--average", "weight", "--format", "ndjson", in: folder
        ).output == """
          {"group": "b", "records": 1, "average(weight)": 0.1}
          {"group": "a", "records": 2, "average(weight)": 0.2}
          {"records": 1, "average(weight)": 0.3}

          """)
      #expect(
        try filedb("count", "foods", "--group", "group,name", "--format", "csv", in: folder).output == """
          group,name,records
          b,leek,1
          a,apple,1
          a,pear,1
          ,salt,1

          """)
      let chosen = try filedb(
        "count", "foods", "--group", "group", "--maximum", "name", "--where", "kcal > 52", "--format", "tsv",
        in: folder)
      #expect(chosen.output == "group\trecords\tmaximum(name)\nb\t1\tleek\na\t1\tpear\n")
    }
  }

  @Test func otherValuesAreLeftOutAndSaid() throws {
    try withFoods { folder in
      try filedb("set", "foods", "1", "kcal:string=61", in: folder)
      let result = try filedb("count", "foods", "--sum", "kcal", "--group", "group", in: folder)
      #expect(result.output.contains("b             1          0"))
      #expect(result.error == "1 record with something other than a number in 'kcal' left out\n")
    }
  }

  @Test func sumThatIsTooLargeIsAnError() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      for _ in 0..<2 { try filedb("add", "t", "n:integer=18446744073709551615", in: folder) }
      let result = try filedb("count", "t", "--sum", "n", in: folder)
      #expect(result.status == 65 && result.output == "")
      #expect(result.error.contains("the sum 36893488147419103230 is too large for an integer"))
    }
  }

  @Test func noMatchIsSaid() throws {
    try withFoods { folder in
      let result = try filedb(
        "count", "foods", "--where", "kcal > 100", "--group", "group", "--format", "json", in: folder)
      #expect(result.output == "[]\n" && result.status == 1)
    }
  }
}

@Suite struct MixedFieldTests {
  @Test func checkWarnsOfFieldsOfSeveralTypes() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "media", in: folder)
      try filedb("add", "media", "title=a", "year:integer=2003", in: folder)
      try filedb("add", "media", "title=b", "year:float=2003.5", in: folder)
      #expect(try filedb("check", in: folder).output == "media: sound\n", "both are numbers")
      try filedb("add", "media", "title=c", "year=2003", in: folder)
      let result = try filedb("check", in: folder)
      #expect(result.status == 0)
      #expect(result.output.hasPrefix("warning: ") && !result.output.contains("sound"))
      #expect(result.output.contains("the field has values of several types: number in 2, string in 1"))
      #expect(result.output.contains("record 3") && result.output.contains("media.plist"))
    }
  }
}
