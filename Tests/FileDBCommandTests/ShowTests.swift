import FileDB
import Foundation
import TestSupport
import Testing

/// Tables of more records than decide about their columns.
@Suite struct ShowTests {
  private func withLongTable(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let table = try store.table("t")
      try table.add(
        contentsOf: (1...600).map { number in
          var fields: Fields = ["n": .integer(Int64(number)), "name": "short"]
          if number == 600 {
            fields = ["n": 123_456_789, "name": "longer than all the others", "late": "x", "id": "y"]
          }
          return fields
        })
      try store.close()
      try body(folder)
    }
  }

  private static let note =
    "fields that only later records have are not shown; choose with --fields: fields.id, late\n"

  @Test func pipeGetsLaterCellsWhole() throws {
    try withLongTable { folder in
      let result = try filedb("show", "t", in: folder)
      let lines = result.output.split(separator: "\n")
      #expect(lines.count == 601)
      // An id takes three columns from the start, a number is to the right.
      #expect(lines[0] == " id    n  name")
      #expect(lines[1] == "  1    1  short")
      #expect(lines[600] == "600  123456789  longer than all the others")
      #expect(result.error == Self.note)
    }
  }

  @Test(.enabled(if: hasScript, "needs script(1)")) func terminalGetsLaterTextCutAndNumbersWhole() throws {
    try withLongTable { folder in
      let result = try filedbOnTerminal("show t", columns: 80, in: folder)
      let lines = result.output.replacing(/\u{1B}\[\d*m/, with: "").split(separator: "\n")
      #expect(lines[1] == "  1    1  short")
      #expect(lines[600] == "600  123456789  long…")
      let narrow = try filedbOnTerminal("show t", columns: 12, in: folder)
      let plain = narrow.output.replacing(/\u{1B}\[\d*m/, with: "").split(separator: "\n")
      #expect(plain.dropFirst().prefix(600).allSatisfy { $0.count <= 12 })
    }
  }

  @Test func namedFieldsHaveColumnsThoughOnlyLaterRecordsHaveThem() throws {
    try withLongTable { folder in
      let result = try filedb("show", "t", "--fields", "late,id", in: folder)
      #expect(result.output.hasPrefix("late   id\n        1\n"), "\(result.output.prefix(40))")
      #expect(result.output.hasSuffix("\n      599\nx     600\n"), "\(result.output.suffix(40))")
      #expect(result.error == "")
    }
  }

  @Test func fewerRecordsAreLaidOutTogether() throws {
    try withLongTable { folder in
      let result = try filedb("show", "t", "--offset", "598", in: folder)
      #expect(
        result.output == """
           id  fields.id  late          n  name
          599                         599  short
          600  y          x     123456789  longer than all the others

          """)
      let matching = try filedb(
        "show", "t", "--where", "n > 598", "--sort", "-n", "--fields", "n", in: folder)
      #expect(matching.output == " id          n\n600  123456789\n599        599\n")
    }
  }

  @Test func closedPipeEndsThePrinting() throws {
    try withLongTable { folder in
      let result = try shell("filedb show t | head -n 2; filedb export t - | head -n 1", in: folder)
      #expect(result.output == " id    n  name\n  1    1  short\nid,fields.id,late,n,name\n")
    }
  }
}
