import FileDB
import FileDBLanguage
import Foundation
import FuzzSupport

@testable import FileDB
@testable import FileDBPlist
@testable import FileDBStorage
@testable import FileDBTables

// An input is the text of a predicate, or of a calculation.
@main enum FuzzPredicate {
  static func main() { runFuzzer(test) }
}

private let arguments: [String: PlistValue] = [
  "a": "text", "b": 5, "c": ["x", 1], "d": .date(Date(timeIntervalSince1970: 1e9)),
]

private let table: TableSnapshot<Fields> = {
  do {
    let disk = MemoryDisk()
    let store = try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions())
    let table = try store.table("t")
    try table.add(contentsOf: [
      [
        "n": 1, "s": "Crème brûlée", "b": true, "l": ["x", 1, ["y"]],
        "d": .date(Date(timeIntervalSince1970: 0)),
      ],
      ["n": .integer(.max), "s": "", "b": false, "l": [], "o": ["k": 2, "e\u{301}": "z"]],
      [
        "n": .integer(.min), "s": "a\r\nb\u{1F1E9}\u{1F1EA}", "b": "true",
        "l": [.real(.nan), .real(.infinity)],
      ],
      ["n": .unsigned(.max), "s": .data(Data([0, 255])), "id": "own", "d": "2026-01-31"],
      ["n": .real(-0.0), "s": "%@ $a \\ \"'", "d": .date(Date(timeIntervalSince1970: 253_402_300_799))],
    ])
    return try table.snapshot()
  } catch {
    fail("\(error)")
  }
}()

private func test(_ bytes: [UInt8]) -> Bool {
  guard let text = String(validating: bytes, as: UTF8.self) else { return false }
  checkExpression(text)
  let named = read { try RecordPredicate(text, arguments: arguments.mapValues { $0 as (any Encodable)? }) }
  guard let predicate = named ?? read({ try RecordPredicate(text, arguments: []) }) else { return true }
  let printed = predicate.description
  guard let again = read({ try RecordPredicate(printed, arguments: []) }) else { fail("refused: \(printed)") }
  if again != predicate { fail("\(predicate)\nread again: \(again)") }
  if !again.description.utf8.elementsEqual(printed.utf8) { fail("\(printed)\nthen: \(again)") }
  checkRecords(predicate, again)
  return true
}

/// - Returns: `nil` if it is refused, which must give the place.
private func read(_ make: () throws -> RecordPredicate) -> RecordPredicate? {
  do { return try make() } catch let error as StoreError {
    if error.code != .invalidPredicate { fail("\(error)") }
    return nil
  } catch {
    fail("\(error)")
  }
}

/// Both find the same records, one by one and in the whole table.
private func checkRecords(_ predicate: RecordPredicate, _ again: RecordPredicate) {
  _ = predicate.unknownFields(in: table)
  func ids(_ predicate: RecordPredicate) -> [RecordID<Fields>]? {
    try? table.filter { try predicate.matches($0) }.map(\.id)
  }
  let found = ids(predicate)
  if ids(again) != found { fail("\(predicate) finds \(String(describing: found)), not when read again") }
  if let found, (try? table.records(where: predicate).map(\.id)) != found {
    fail("\(predicate) finds \(found) one by one, but not in the table")
  }
}

private func checkExpression(_ text: String) {
  guard let expression = try? RecordExpression(text, arguments: arguments) else { return }
  for record in table {
    guard let value = try? expression.value(of: record.fields, id: AnyRecordID(record.id)) else { continue }
    // A table may refuse text that was joined. But nothing is stored as another value.
    if let normal = try? value.normalized(limits: PlistLimits()), normal != value {
      fail("\(value) of \(text) is stored as \(normal)")
    }
  }
}
