import FileDB
import Foundation
import TestSupport
import Testing

/// What predicates mean, by examples.
@Suite struct PredicateTests {
  private static let butter: Fields = [
    "name": "Crème brûlée", "group": "Dairy", "kcal": 717, "fat": 81.5, "big": .unsigned(.max), "done": true,
    "open": false, "due": .date(Date(timeIntervalSince1970: 1_767_225_600)),  // 2026-01-01
    "raw": .data(Data([1, 2])), "tags": ["red", "Grün", "blue"], "empty": [], "sizes": [1, 2.5, 30],
    "items": [["price": 3, "n": 1], ["price": 7], ["other": 1]], "address": ["city": "Zürich", "a.b": 1],
    "id": "own", "in": 5, "first name": "Ann", "nan": .real(.nan), "text": "717", "deep": [[1, 2], [3]],
    "lines": "one\ntwo", "quote": "it's \"so\" \\", "blank": "", "decomposed": "e\u{301}",
    "composed": "\u{E9}",
    "street": "STRASSE", "kana": "が", "same": 717.0, "date": "2026-01-01",
  ]

  private static let truths = [
    // Comparing.
    "kcal == 717", "kcal = 717.0", "same == kcal", "kcal != 716", "kcal <> 716", "kcal < 718", "kcal <= 717",
    "kcal =< 717", "kcal > 716.9", "kcal >= 717", "kcal => 717", "716 < kcal", "fat < kcal", "big > kcal",
    "big == 18446744073709551615", "big == 0xFFFFFFFFFFFFFFFF", "kcal > -1", "kcal < 1e3",
    "nan > 1e308", "nan == REAL('nan')", "kcal < REAL('infinity')",
    // Text, byte by byte unless it is folded.
    "name == 'Crème brûlée'", "group == \"Dairy\"", "group != 'dairy'", "group ==[c] 'dAIRY'",
    "name ==[cd] 'CREME BRULEE'", "group < 'dairy'", "group >[c] 'cheese'", "composed != decomposed",
    "composed ==[c] decomposed", "composed ==[d] 'e'", "composed !=[c] 'e'", "NOT composed CONTAINS[d] 'E'",
    "street ==[c] 'straße'", "street ==[c] 'STRAẞE'", "kana !=[d] 'か'",
    // Values of different types.
    "NOT text == kcal", "text != kcal", "NOT text < kcal", "NOT text >= kcal", "NOT raw == 'AQI='",
    "done == 1",
    "done == TRUE", "done == YES", "open == NO", "open == 0", "open < done", "done > 0.5",
    "NOT done == 'true'",
    "raw == DATA('AQI=')", "NOT tags < 5", "NOT tags >= tags", "tags == tags", "address == address",
    // Missing ones.
    "nothing == NULL", "nothing = nil", "kcal != NULL", "nothing != 5", "NOT nothing == 5", "NOT nothing < 5",
    "NOT nothing >= 5", "NOT nothing <= NULL", "nothing == void", "blank != NULL", "NOT nothing CONTAINS ''",
    "NOT nothing LIKE '*'", "nothing IN {1, NULL}", "NOT nothing BETWEEN {0, 9}",
    // Dates.
    "due == '2026-01-01'", "due == '2026-01-01T00:00:00Z'", "due == \"2026-01-01 01:00+01:00\"",
    "due == '2025-12-31T19:00:00-0500'", "due < '2026-01-01 00:00:00.5'", "due >= '2026-01-01'",
    "due < '2026-01-02'", "due BETWEEN {'2025-12-31', '2026-01-01'}", "'2025-01-01' < due",
    "due < '2026-02'", "due == '2026-01'", "due > '2025'", "due == '2026'", "NOT due == '2026-13'",
    "NOT due == '2026-1'", "NOT due == '20260101'", "NOT due == '٢٠٢٦'", "due IN {'2026-01-01'}",
    "due == DATE('2026-01-01')", "NOT due == 'soon'", "due != 'soon'",
    "NOT due < 'soon'",
    "NOT due == '2026-13-01'", "NOT due == '2026-01-01T00:00:00+24:00'", "NOT due == date",
    "date == '2026-01-01'",
    "NOT date == DATE('2026-01-01')", "NOT due BEGINSWITH '2026'",
    // Ranges and lists.
    "kcal BETWEEN {700, 717}", "kcal BETWEEN {717, 800}", "NOT kcal BETWEEN {800, 700}",
    "kcal BETWEEN {fat, big}", "kcal IN {1, 717.0}", "NOT kcal IN {}", "NOT kcal IN {'717'}",
    "kcal IN {fat, same}",
    "group IN[c] {'DAIRY', 'x'}", "'red' IN tags", "NOT 'Red' IN tags", "'Red' IN[c] tags", "'brû' IN name",
    "NOT name IN 'brû'",
    "NOT kcal IN kcal",
    "sizes == {1, 2.5, 30.0}", "sizes != {1, 2.5}", "deep == {{1, 2}, {3}}", "{1, 2} IN deep",
    // In strings and arrays.
    "name CONTAINS 'brû'", "NOT name CONTAINS 'brule'", "name CONTAINS[d] 'brule'",
    "name CONTAINS[cd] 'BRULE'",
    "NOT composed CONTAINS[c] 'e'", "decomposed CONTAINS 'e'", "name CONTAINS ''", "tags CONTAINS 'red'",
    "tags CONTAINS[cd] 'GRUN'", "NOT tags CONTAINS 're'", "sizes CONTAINS 30.0", "name BEGINSWITH 'Cr'",
    "name BEGINSWITH[cd] 'creme'", "NOT name BEGINSWITH 'rème'", "name ENDSWITH 'lée'",
    "name ENDSWITH[d] 'lee'",
    "NOT name ENDSWITH 'x'", "NOT kcal CONTAINS '7'", "kana CONTAINS[cd] 'が'", "NOT kana CONTAINS[d] 'か'",
    // Patterns.
    "group LIKE 'D*y'", "group LIKE 'D??ry'", "NOT group LIKE 'D?ry'", "NOT group LIKE 'D'", "group LIKE '*'",
    "group LIKE[c] 'd*Y'", "name LIKE 'Cr?me*'", "name LIKE[cd] 'creme*brulee'", "lines LIKE 'one*two'",
    "blank LIKE ''", "blank LIKE '*'", "NOT blank LIKE '?'", "quote LIKE '*\\\\\\\\'",
    "NOT group LIKE '\\\\D*ry?'",
    "group LIKE '\\\\D*'", "group LIKE '*a*r*'", "NOT group LIKE '*b*'", "NOT kcal LIKE '*'",
    "group MATCHES 'D[a-z]+'", "NOT group MATCHES 'D'", "NOT group MATCHES 'airy'", "group MATCHES 'D|Dairy'",
    "group MATCHES[c] 'DAIRY'", "name MATCHES[d] 'Creme b.*'", "name MATCHES[cd] 'CRÈME\\\\s.*'",
    "text MATCHES '\\\\d{3}'", "NOT lines MATCHES 'one.two'", "lines MATCHES '(?s)one.two'",
    "NOT kcal MATCHES '.*'",
    "NOT lines MATCHES 'one\\\\n'",
    // Paths.
    "address.city == 'Zürich'", "address.#\"a.b\" == 1", "address.nothing == NULL", "address.city.x == NULL",
    "tags[0] == 'red'", "tags[FIRST] == 'red'", "tags[last] == 'blue'", "tags[3] == NULL", "tags.@count == 3",
    "address.@count == 2", "empty.@count == 0", "name.@count == NULL", "items[1].price == 7",
    "empty[LAST] == NULL",
    "deep[0][1] == 2", "items.price == {3, 7}", "items.price.@count == 2", "kcal[0] == NULL",
    // Every and some.
    "ANY tags == 'red'", "SOME tags BEGINSWITH 'b'", "NOT ANY tags == 'black'", "ALL tags MATCHES '.+'",
    "NOT ALL tags == 'red'", "NONE tags == 'black'", "NOT NONE tags == 'red'", "ANY items.price > 5",
    "NOT ANY empty == 1", "ALL empty == 1", "NONE empty == 1", "NOT ANY nothing == 1", "ALL nothing == 1",
    "ANY kcal == 717", "ANY tags IN {'x', 'red'}", "ANY {1, 717} == kcal", "ALL sizes BETWEEN {0, 30}",
    "ANY tags ==[cd] 'grun'",
    // Names.
    "id == 1", "id IN {1, 2}", "fields.id == 'own'", "#fields.id == NULL", "first\\.name == NULL",
    "#id == 'own'", "#'id' == 'own'", "id_ == NULL", "#in == 5",
    "#\"first name\" == 'Ann'",
    "#group == 'Dairy'", "id.x == NULL", "wgFileDbSecretId == NULL", "DATE == NULL",
    // Joining them.
    "TRUEPREDICATE", "NOT FALSEPREDICATE", "kcal == 717 AND group == 'Dairy'", "kcal == 1 OR kcal == 717",
    "kcal == 717 && !(kcal == 1 || kcal == 2)", "not kcal == 1 and done == yes",
    "kcal == 717 OR kcal == 717 AND kcal == 1", "NOT (kcal == 717 AND kcal == 1)",
    "NOT kcal == 1 AND kcal == 717",
    "NOT NOT kcal == 717", "!kcal == 1", "kcal==717&&fat==81.5||FALSEPREDICATE", " \n kcal\t==\r\n717 ",
    // Literals.
    "quote == \"it's \\\"so\\\" \\\\\"", "quote == 'it\\'s \"so\" \\\\'", "lines == 'one\\ntwo'",
    "composed == '\\u{e9}'", "kcal == 0x2cd", "kcal == 7.17e2",
  ]

  @Test func examplePredicatesAreTrue() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(Self.butter)
      for text in Self.truths {
        guard let predicate = try? RecordPredicate(text) else {
          Issue.record("this is no predicate: \(text)")
          continue
        }
        #expect(try table.lastSnapshot.count(where: predicate) == 1, "\(text)")
        #expect(try table.lastSnapshot.count(where: RecordPredicate("NOT (\(text))")) == 0, "NOT (\(text))")
        #expect(try RecordPredicate(predicate.description) == predicate, "\(text): \(predicate)")
      }
    }
  }

  @Test func argumentsAreValuesAndNeverPredicateText() throws {
    let hostile = "x' OR TRUEPREDICATE OR 'a' == 'b"
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [Self.butter, ["a.b": 1, hostile: 2, "s": .string(hostile), "%@": 3]])
      func ids(_ text: String, _ arguments: (any Encodable)?...) throws -> [RecordID<Fields>] {
        let predicate = try RecordPredicate(text, arguments: arguments)
        #expect(try RecordPredicate(predicate.description) == predicate, "\(predicate)")
        return try table.lastSnapshot.records(where: predicate).map(\.id)
      }
      let limit = 700
      #expect(try ids("kcal > %@ AND %K == %@", limit, "group", "Dairy") == [1])
      #expect(try ids("s == %@", hostile) == [2])
      #expect(try ids("%K == %@", hostile, 2.0) == [2])
      #expect(try ids("%K == 1", "a.b") == [2], "the argument of %K is one name")
      #expect(try ids("%K.%K == 'Zürich'", "address", "city") == [1])
      #expect(try ids("%K == 'own'", "id") == [1], "and never the record's id")
      #expect(try ids("%K == 3", "%@") == [2])
      #expect(try ids("id IN %@", [2, 9]) == [2])
      #expect(
        try ids("id IN {%@, %@}", RecordID<Fields>(1), RecordID<Fields>(2) as RecordID<Fields>?) == [1, 2])
      #expect(try ids("kcal BETWEEN %@", [700.5, 717]) == [1])
      #expect(try ids("kcal == %@", nil) == [2])
      #expect(try ids("due <= %@", Date(timeIntervalSince1970: 1_767_225_600.9)) == [1])
      #expect(try ids("due == %@", Date(timeIntervalSince1970: 1_767_225_600.9)) == [1], "as it is stored")
      #expect(try ids("raw == %@", Data([1, 2])) == [1])
      #expect(try ids("big == %@", UInt64.max) == [1])
      #expect(try ids("nan == %@", Double.nan) == [1])
      #expect(try ids("done == %@", PlistValue.bool(true)) == [1])
      #expect(try ids("name LIKE[d] %@ AND group MATCHES %@", "Creme*", "D.+") == [1])
      #expect(try ids("deep == %@", [[1, 2], [3]]) == [1])
    }
  }

  @Test func namedArgumentsAreValuesAndNeverPredicateText() throws {
    let hostile = "x' OR TRUEPREDICATE OR 'a' == 'b"
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [Self.butter, ["s": .string(hostile)]])
      func ids(_ text: String, _ arguments: [String: (any Encodable)?]) throws -> [RecordID<Fields>] {
        let predicate = try RecordPredicate(text, arguments: arguments)
        #expect(try RecordPredicate(predicate.description) == predicate, "\(predicate)")
        return try table.lastSnapshot.records(where: predicate).map(\.id)
      }
      let limit = 700
      #expect(try ids("kcal > $limit AND group == $group", ["limit": limit, "group": "Dairy"]) == [1])
      #expect(try ids("s == $s", ["s": hostile]) == [2])
      #expect(try ids("kcal BETWEEN {$a, $b} AND kcal != $a", ["a": 700, "b": PlistValue.real(717)]) == [1])
      #expect(try ids("name LIKE[d] $name AND due == $day", ["name": "Creme*", "day": "2026-01-01"]) == [1])
      #expect(try ids("kcal == $none", ["none": nil]) == [2])
      let values: [String: PlistValue] = ["ids": [2, 9]]
      #expect(try ids("id IN $ids", values) == [2])
    }
  }

  @Test func predicatesAreEqualIfTheyMeanTheSame() throws {
    let same = [
      ("a == 1", "a=1"), ("a != 1 AND b > 2", "a<>1 && b>2"), ("a == 'x'", "#a = \"x\""),
      ("ANY a == 1", "some a==1"),
      ("a == 1 AND b == 2 AND c == 3", "(a == 1) and b == 2 and (c == 3)"),
      ("a IN {TRUE, NULL}", "a in {yes,nil}"),
    ]
    for (left, right) in same {
      #expect(try RecordPredicate(left) == RecordPredicate(right), "\(left), \(right)")
    }
    let different = [
      ("a == 1", "a == 1.0"), ("a == 'é'", "a == 'e\u{301}'"), ("é == 1", "e\u{301} == 1"),
      ("a == 1", "a ==[c] 1"),
      ("a LIKE 'x'", "a MATCHES 'x'"), ("a LIKE 'x'", "a LIKE[c] 'x'"), ("id == 1", "#id == 1"),
      ("(a == 1 AND b == 1) AND c == 1", "a == 1 AND b == 1 AND c == 1"), ("a.b == 1", "#'a.b' == 1"),
      ("a == '2026-01-01'", "a == DATE('2026-01-01')"),
    ]
    for (left, right) in different {
      #expect(try RecordPredicate(left) != RecordPredicate(right), "\(left), \(right)")
    }
    #expect(
      try RecordPredicate("a=%@&&!(b<2||c like[dc]'x*')", "q'").description
        == #"a == "q'" AND NOT (b < 2 OR c LIKE[cd] "x*")"#)
  }

  @Test func matchingRecordsComeInTableOrder() throws {
    try withStore { store in
      let notes = try store.table(TableName<Note>.notes)
      try notes.add(contentsOf: (0..<5_000).map { Note(title: "note \($0)", isDone: $0 % 3 == 0) })
      try notes.move(4, to: .bottom)
      let done = try RecordPredicate("isDone == TRUE AND title ENDSWITH '9'")
      let expected = try notes.lastSnapshot.filter { try $0.value.isDone && $0.value.title.hasSuffix("9") }
        .map(
          \.id)
      #expect(try notes.lastSnapshot.records(where: done).map(\.id) == expected)
      #expect(try notes.lastSnapshot.count(where: done) == expected.count)
      #expect(try notes.lastSnapshot.first(where: done)?.id == expected.first)
      #expect(try notes.lastSnapshot.filter(done.matches).map(\.id) == expected)
      #expect(try notes.lastSnapshot.first(where: RecordPredicate("FALSEPREDICATE")) == nil)
      // A closure is still the standard library's.
      #expect(notes.lastSnapshot.count(where: { $0.id == 4 }) == 1)
      #expect(notes.lastSnapshot.first { $0.id == 4 }?.id == 4)

      let snapshot = notes.lastSnapshot
      #expect(try notes.delete(where: done).ids == expected)
      #expect(try notes.count == 5_000 - expected.count)
      #expect(try snapshot.count(where: done) == expected.count, "a snapshot stays as it was")
      #expect(try notes.delete(where: done).count == 0)
      #expect(try store.table("nosuch").lastSnapshot.records(where: done).isEmpty)
    }
  }

  /// Comparisons with values of a type that the field never has, and others that make sense.
  @Test func comparisonsOfTypesThatNeverFitAreFound() throws {
    try withStore { store in
      let table = try store.table("t")
      let day = PlistValue.date(Date(timeIntervalSince1970: 0))
      try table.add(contentsOf: [
        [
          "due": day, "mixed": "soon", "d": ["due": day], "zip": "10115", "n": 1, "done": true, "tags": ["a"],
        ],
        ["mixed": day, "price": 4], ["text": "x", "price": 7.5, "raw": .data(Data([1]))],
      ])
      for (predicate, words) in [
        ("due < 'soon'", "'due' has dates, which cannot be compared with \"soon\"; write '2026-01-31'"),
        ("'2026-4-1' > due", "has dates"), ("NOT due == '2026-13'", "has dates"),
        ("x == 1 OR due BETWEEN {'2026', 'now'}", "with \"now\""), ("due IN {'soon', 'late'}", "has dates"),
        ("due BEGINSWITH '1970'", "has dates"), ("due LIKE '1970*'", "has dates"), ("d.due < ''", "'d.due'"),
        ("due < 5", "has dates"),
        ("zip != 10115", "'zip' has text, which cannot be compared with 10115; write '10115'"),
        ("zip IN {1, 2}", "has text"), ("10115 == zip", "has text"), ("zip == TRUE", "has text"),
        ("n == '1'", "'n' has numbers, which cannot be compared with \"1\"; write 1, without quotes"),
        ("price > 'x'", "'price' has numbers"), ("id == '3'", "write 3"), ("n CONTAINS '1'", "has numbers"),
        ("done == 'yes'", "has numbers"), ("raw == 'x'", "has data"), ("n MATCHES '1'", "has numbers"),
      ] {
        let found = try RecordPredicate(predicate).mistypedComparisons(in: table.lastSnapshot)
        #expect(found.count == 1 && found[0].description.contains(words), "\(predicate): \(found)")
        // It says so because no record can match.
        for record in try table.lastSnapshot.records(where: RecordPredicate(predicate)) {
          #expect(predicate.contains("!=") || predicate.contains("NOT"), "\(predicate): \(record)")
        }
      }
      for predicate in [
        "due < '2026-04'", "due != NULL", "due == text", "mixed < 'soon'", "text < 'soon'",
        "nothing < 'soon'",
        "text LIKE 'x'", "zip IN {10115, '10115'}", "done == 1", "n == TRUE", "tags CONTAINS 'a'",
        "tags == 'a'",
        "ANY tags == 'a'", "price * 2 > 5", "done", "n", "due IN {'2026-01-01', 'soon'}",
      ] {
        #expect(
          try RecordPredicate(predicate).mistypedComparisons(in: table.lastSnapshot).isEmpty, "\(predicate)")
      }
    }
  }

  @Test(arguments: [PlistValue.bool(true), false, 1, 0, 1.0, "yes", ["a"], ["a": true]])
  func fieldByItselfIsTrueOnlyIfItIsATrueBoolean(value: PlistValue) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["f": value], [:]])
      let isTrue = value == .bool(true)
      let found = try table.lastSnapshot.records(where: RecordPredicate("f"))
      #expect(found.map(\.id) == (isTrue ? [1] : []))
      let others = try table.lastSnapshot.records(where: RecordPredicate("NOT f"))
      #expect(others.map(\.id) == (isTrue ? [2] : [1, 2]))
      #expect(
        try RecordPredicate(RecordPredicate("f AND NOT g").description) == RecordPredicate("f AND NOT g"))
    }
  }
}
