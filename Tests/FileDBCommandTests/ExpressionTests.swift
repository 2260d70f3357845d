import FileDB
import Foundation
import TestSupport
import Testing

/// Conditions that need no comparison, dates that are counted from today, and values that are calculated.
@Suite struct ExpressionTests {
  private func withTasks(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "n:integer=1", "done:bool=yes", "due:date=2026-01-31", in: folder)
      try filedb("add", "t", "n:integer=2", "done:bool=no", "price:float=1.5", "name=Tea", in: folder)
      try filedb("add", "t", "n:integer=7", in: folder)
      try body(folder)
      try RecordStore(at: folder).checkInvariants()
    }
  }

  private static let conditions = [
    ("done", "1"), ("NOT done", "2,3"), ("done AND n == 1", "1"), ("(done) OR n = 7", "1,3"),
    ("done IS NULL", "3"), ("done is not null", "1,2"), ("done IS TRUE", "1"), ("NOT done IS NULL", "1,2"),
    ("n + 1 == 2", "1"), ("n * 2 + 1 > n + 3", "3"), ("(n + 1) * 2 = 6", "2"), ("n / 2 = 3.5", "3"),
    ("-n < -1", "2,3"), ("n -1 = 1", "2"), ("n-1 = 1", "2"), ("price * 2 == 3", "2"),
    ("name + '!' == 'Tea!'", "2"), ("due + 1m == '2026-02-28'", "1"), ("due = DATE('2026-02-01') - 24h", "1"),
    ("due < now", "1"), ("due < today()", "1"), ("due - 1y = '2025-01-31'", "1"),
    ("n BETWEEN {3 - 1, 3 + 4}", "2,3"),
  ]

  @Test func conditionChooses() throws {
    try withTasks { folder in
      for (condition, ids) in Self.conditions {
        let result = try filedb(
          "show", "t", "--where", condition, "--format", "csv", "--fields", "id", in: folder)
        #expect(result.error == "", "\(condition)")
        #expect(
          result.output.split(separator: "\n").dropFirst().joined(separator: ",") == ids, "\(condition)")
      }
    }
  }

  @Test func todayIsTheDayOnTheWall() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      // It is never the same day in these two places.
      for zone in ["AHEAD-13", "BEHIND+12"] {
        let day = try run("/bin/date", ["+%Y-%m-%d"], in: folder, input: "", environment: ["TZ": zone]).output
        let name = day.trimmingCharacters(in: .newlines)
        let id = try filedb("add", "t", "due:date=\(name)", in: folder).output.dropLast()
        let found = try filedb(
          "show", "t", "--where", "due == today AND due < today + 1w", "--format", "csv", "--fields", "id",
          in: folder, environment: ["TZ": zone])
        #expect(found.output == "id\n\(id)\n")
      }
    }
  }

  @Test func setCalculatesFromTheRecordAsItWas() throws {
    try withTasks { folder in
      let set = try filedb(
        "set", "t", "--where", "n > 0", "n:=n * 10 + 1", "old:=n", "done:=NOT done", in: folder)
      #expect(set.status == 0 && set.error == "3 records changed\n")
      let shown = try filedb(
        "show", "t", "--format", "csv", "--fields", "n,old,done", in: folder)
      #expect(shown.output == "id,n,old,done\n1,11,1,false\n2,21,2,true\n3,71,7,true\n")
      // Without the colon it is text, as before.
      try filedb("set", "t", "3", "n=n + 1", in: folder)
      #expect(try filedb("get", "t", "3", "n", in: folder).output == "n + 1\n")
      try filedb("set", "t", "1", "label:='No. ' + id", "due:=due + 1m", in: folder)
      #expect(try filedb("get", "t", "1", "label", in: folder).output == "No. 1\n")
      #expect(try filedb("get", "t", "1", "due", in: folder).output == "2026-02-28\n")
    }
  }

  @Test func expressionWithoutAValueChangesNothing() throws {
    try withTasks { folder in
      let missing = try filedb("set", "t", "--where", "n > 0", "price:=price + 1", in: folder)
      #expect(missing.status == 65)
      #expect(missing.error.contains("record 1") && missing.error.contains("'price' is missing"))
      #expect(try filedb("get", "t", "2", "price", in: folder).output == "1.5\n")
      for (expression, words) in [
        ("n / 0", "cannot be calculated with"), ("n + due", "is missing"),
        ("n +", "expected a field or a value"),
        ("n * 9223372036854775807", "too large"), ("n )", "expected +, -, *, / or the end"),
      ] {
        let result = try filedb("set", "t", "3", "n:=\(expression)", in: folder)
        #expect(result.status == (words.hasPrefix("expected") ? 64 : 65), "\(expression): \(result.error)")
        #expect(result.error.contains(words), "\(expression): \(result.error)")
      }
      #expect(try filedb("get", "t", "3", "n", in: folder).output == "7\n")
    }
  }

  @Test func newRecordHasDatesThatAreCounted() throws {
    try withTasks { folder in
      try filedb("add", "t", "due:=today + 7d", "n:=6 * 7", in: folder)
      let found = try filedb(
        "count", "t", "--where", "due = today + 1w AND n = 42", in: folder)
      #expect(found.output == "1\n")
      let refused = try filedb("add", "t", "n:=n + 1", in: folder)
      #expect(refused.status == 64 && refused.error.contains("no field 'n' yet"))
      let script = try filedb("batch", in: folder, input: "add t 'n:=40 + 1'\nset t 5 'n:=n + 1'\n")
      #expect(script.error == "" && script.status == 0)
      #expect(try filedb("get", "t", "5", "n", in: folder).output == "42\n")
    }
  }

  @Test func argumentsStandInExpressions() throws {
    try withTasks { folder in
      let both = try filedb(
        "set", "t", "--where", "n > $k", "n:=n * $k", "note:=$text", "--arg", "k:integer=2", "--arg",
        "text=O'B + 1",
        in: folder)
      #expect(both.error == "1 record changed\n")
      #expect(try filedb("get", "t", "3", "n", in: folder).output == "14\n")
      #expect(try filedb("get", "t", "3", "note", in: folder).output == "O'B + 1\n")
      let byID = try filedb("set", "t", "1", "n:=n + $k", "--arg", "k:integer=2", in: folder)
      #expect(byID == ToolResult(output: "", error: "", status: 0))
      #expect(try filedb("get", "t", "1", "n", in: folder).output == "3\n")
      for (arguments, words) in [
        (["set", "t", "1", "n:=n + $k"], "no argument 'k'"),
        (["set", "t", "1", "n=1", "--arg", "k=1"], "--arg needs --where"),
        (["set", "t", "--where", "n > 0", "n:=$k", "--arg", "k=1", "--arg", "j=2"], "'j' is not used"),
        (["show", "t", "--arg", "k=1"], "--arg needs --where"),
      ] {
        let refused = try filedb(arguments, in: folder)
        #expect(refused.status == 64 && refused.error.contains(words), "\(arguments): \(refused.error)")
      }
    }
  }

  @Test func declaredRealStaysReal() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "t", in: folder)
      try filedb("add", "t", "price:float=2", in: folder)
      try filedb("schema", "t", "price", "--type", "float", in: folder)
      let set = try filedb("set", "t", "1", "price:=6 / 2", in: folder)
      #expect(set.error == "")
      #expect(try RecordStore(at: folder).table("t").snapshot()[0].fields["price"] == .real(3))
    }
  }

  @Test func idsStandAnywhereAmongTheWords() throws {
    try withTasks { folder in
      let set = try shell("printf '1 3' | xargs filedb set t done:bool=yes", in: folder)
      #expect(set.status == 0, "\(set.error)")
      #expect(try filedb("count", "t", "--where", "done", in: folder).output == "2\n")
      try filedb("unset", "t", "1", "done", "3", in: folder)
      #expect(try filedb("count", "t", "--where", "done IS NULL", in: folder).output == "2\n")
    }
  }

  @Test func severalRecordsMoveAndAreCopiedAndLoseFields() throws {
    try withTasks { folder in
      func order() throws -> String {
        try filedb("show", "t", "--format", "csv", "--fields", "id", in: folder).output
          .split(separator: "\n").dropFirst().joined(separator: ",")
      }
      try filedb("move", "t", "3", "1", "--top", in: folder)
      #expect(try order() == "3,1,2")
      #expect(try filedb("duplicate", "t", "1", "2", "--bottom", in: folder).output == "4\n5\n")
      #expect(try order() == "3,1,2,4,5")
      let unset = try filedb("unset", "t", "--where", "n < 3", "done", "price", in: folder)
      #expect(unset.status == 0 && unset.error == "4 records changed\n")
      #expect(try filedb("count", "t", "--where", "done IS NULL", in: folder).output == "5\n")
      try filedb("add", "t", "5=x", in: folder)
      try filedb("unset", "t", "6", "5", in: folder)
      #expect(try filedb("get", "t", "6", in: folder).output == "id  6\n")
      #expect(try filedb("unset", "t", "1", "99", "n", in: folder).status == 1)
      #expect(try filedb("get", "t", "1", "n", in: folder).output == "1\n")
    }
  }
}
