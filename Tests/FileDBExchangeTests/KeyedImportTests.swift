import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Imports that change existing records.
@Suite struct KeyedImportTests {
  @Test func importByKeyChangesOnlyMatchingRecords() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [
        ["k": "a", "n": 1, "own": true], ["k": "b", "n": 2], ["n": 3], ["k": "d", "n": 4.0],
      ])
      let csv = importer(.delimited(.csv)) {
        $0.types = ["n": .integer]
        $0.matching = .key(["k"])
      }
      let report = try take(Array("k,n\nb,2\nc,9\na,7\nd,\n".utf8), csv, of: store)
      #expect((report.added, report.changed, report.unchanged) == (1, 1, 2))
      #expect(
        table.lastSnapshot.map(\.fields) == [
          ["k": "a", "n": 7, "own": true], ["k": "b", "n": 2], ["n": 3], ["k": "d", "n": 4.0],
          ["k": "c", "n": 9],
        ])
      // An import without changes makes no commit.
      let stepWrite = try store.undoableWrite { tx in
        try csv.run(ImportSource(Array("k,n\nb,2\na,7\n".utf8), name: "file"), into: "t", in: &tx)
      }
      let (again, step) = (stepWrite.result, stepWrite.step)
      #expect(again.unchanged == 2 && step.isEmpty)
      let faults: [(text: String, line: Int?, words: String)] = [
        ("k,n\nx,1\ny,2\nx,3\n", 4, "'x' occurs twice, first in line 2"),
        ("k,n\n,1\n", 2, "no value for this key"),
      ]
      for (text, line, words) in faults {
        let error = try #require(storeError { try take(Array(text.utf8), csv, of: store) })
        #expect(error.line == line && error.message.contains(words), "\(error)")
      }
      try table.add(["k": "a"])
      let error = try #require(storeError { try take(Array("k,n\nz,1\n".utf8), csv, of: store) })
      #expect(error.code == .duplicateKey && error.message.contains("records 1 and 6"), "\(error)")
    }
  }

  @Test(arguments: [ExchangeFormat.delimited(.csv), .json, .ndjson, .plist], [false, true])
  func exportRestoresChangedRecordsByKey(format: ExchangeFormat, hasFieldID: Bool) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["k": "a", "n": "1"], ["k": "b", "n": "2"], ["k": "c"]], at: .top)
      if hasFieldID { try table.set(["id": "B", "fields.id": "C"], of: 2) }
      let file = try exported(table.lastSnapshot, TableExport(format: format))
      let before = table.lastSnapshot.map(\.fields)
      try table.set(["n": "9"], of: 1)
      let report = try take(file, importer(format) { $0.matching = .key(["k"]) }, of: store)
      #expect((report.added, report.changed, report.unchanged) == (0, 1, 2))
      #expect(table.lastSnapshot.map(\.fields) == before)
    }
  }

  /// Else every trip would make one more field of the ids.
  @Test(arguments: [ExchangeFormat.delimited(.csv), .json, .ndjson, .plist], [0, 3, 1_500])
  func exportWithFieldIDComesBackWithoutIDs(format: ExchangeFormat, before: Int) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [Fields](repeating: ["k": "a"], count: before))
      try table.add(contentsOf: [["k": "b", "id": "own", "fields.id": "x"], ["k": "c"]])
      let file = try exported(table.lastSnapshot, TableExport(format: format))
      let report = try take(file, importer(format), into: "back", of: store)
      #expect(try store.table("back").lastSnapshot.map(\.fields) == table.lastSnapshot.map(\.fields))
      #expect(report.ignoredIDs == (format.isPropertyList ? 0 : before + 2))
    }
  }

  @Test func idColumnIsIgnoredWhereTableHasNoSuchField() throws {
    try withStore { store in
      let csv = importer(.delimited(.csv)) { $0.matching = .key(["k"]) }
      try store.table("t").add(["k": "a"])
      let report = try take(Array("id,k,fields.id\n7,a,\n8,b,\n9,c,own\n".utf8), csv, of: store)
      #expect((report.added, report.unchanged, report.ignoredIDs) == (2, 1, 3))
      #expect(
        try store.table("t").lastSnapshot.map(\.fields) == [["k": "a"], ["k": "b"], ["k": "c", "id": "own"]])
    }
  }

  /// Files of other programs may have such a column, too.
  @Test func idColumnIsFieldInNewTableOrTableThatHasIt() throws {
    try withStore { store in
      let csv = importer(.delimited(.csv)) { $0.matching = .key(["k"]) }
      try take(Array("id,k\n7,a\n2,b\n".utf8), csv, of: store)
      try take(Array("id,k\n8,a\n2,b\n3,c\n".utf8), csv, of: store)
      #expect(
        try store.table("t").lastSnapshot.map(\.fields) == [
          ["k": "a", "id": "8"], ["k": "b", "id": "2"], ["k": "c", "id": "3"],
        ])
      let byID = importer(.delimited(.csv)) { $0.matching = .key(["id"]) }
      let report = try take(Array("id,k\n8,x\n".utf8), byID, of: store)
      #expect(report.changed == 1)
      try store.table("u").add(["k": "a"])
      let error = try #require(storeError { try take(Array("id,k\n1,x\n".utf8), byID, into: "u", of: store) })
      #expect(
        error.message.contains("no record of the table has a field 'id'") && error.line == 2, "\(error)")
    }
  }

  @Test func fieldsOfCombinedKeyAreComparedSeparately() throws {
    try withStore { store in
      let json = importer(.json) { $0.matching = .key(["a", "b"]) }
      try store.table("t").add(contentsOf: [
        ["a": "x", "b": "y z"], ["a": 1.0, "b": "1"], ["a": "11", "b": ""],
      ])
      let text = #"[{"a": "x y", "b": "z"}, {"a": 1, "b": "1", "c": 5}, {"a": "1", "b": "11", "c": 6}]"#
      let report = try take(Array(text.utf8), json, of: store)
      #expect((report.added, report.changed) == (2, 1))
      #expect(try store.table("t").lastSnapshot.map { $0["c"] } == [nil, 5, nil, nil, 6])
    }
  }

  /// Otherwise every row of an untyped file would be added again.
  @Test func keyOfAnotherTypeIsAnError() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["k": 7])
      let csv = importer(.delimited(.csv)) { $0.matching = .key(["k"]) }
      // The table knows what an untyped column holds.
      let report = try take(Array("k,n\n7,x\n".utf8), csv, of: store)
      #expect((report.added, report.changed) == (0, 1))
      try table.add(["k": "x"])
      #expect(try take(Array("k,n\n7,y\n".utf8), csv, of: store).changed == 1)
      let typed = importer(.delimited(.csv)) { ($0.matching, $0.types) = (.key(["k"]), ["k": .string]) }
      let error = try #require(storeError { try take(Array("k\n7\n".utf8), typed, of: store) })
      #expect(error.message.contains("a string here and a number in record 1"), "\(error)")
      #expect(error.line == 2 && error.field == "k")
    }
  }

  @Test func importByIDChangesRecordsWithThoseIDs() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["n": "a"], ["n": "b"], ["n": "c"]])
      try table.delete(3)
      let csv = importer(.delimited(.csv)) { $0.matching = .id }
      let report = try take(Array("id,n,fields.id\n,new,\n2,B,x\n9,far,\n,next,\n".utf8), csv, of: store)
      #expect((report.added, report.changed) == (3, 1))
      #expect(table.lastSnapshot.ids == [1, 2, 10, 9, 11])
      #expect(table.lastSnapshot.map { $0["n"]?.string } == ["a", "B", "new", "far", "next"])
      #expect(table.lastSnapshot[1]["id"] == "x")
      for text in ["id,n\nx,1\n", "id,n\n01,1\n", "id,n\n1,1\n1,2\n"] {
        #expect(storeError { try take(Array(text.utf8), csv, of: store) }?.line != nil)
      }
    }
  }

  @Test func skippedRowDoesNotTakeItsKey() throws {
    try withStore { store in
      try store.table("t").add(["k": "7"])
      let lines = importer(.ndjson) {
        $0.matching = .key(["k"])
        $0.onError = .skip
      }
      let report = try take(Array("{\"k\": 7}\n{\"k\": \"7\", \"n\": 1}\n".utf8), lines, of: store)
      #expect(report.skipped.count == 1 && report.changed == 1)
    }
  }

  @Test func newIDsAreAboveAllIDsOfTheFile() throws {
    try withStore { store in
      let text = (["n,id", "x,"] + (1...1_500).map { "y,\($0)" }).joined(separator: "\n")
      try take(Array(text.utf8), importer(.delimited(.csv)) { $0.matching = .id }, of: store)
      #expect(try store.table("t").lastSnapshot.ids.map(\.rawValue) == [1_501] + (1...1_500))
    }
  }
}
