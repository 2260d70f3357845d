import FileDB
import Foundation
import TestSupport
import Testing

private struct Address: Codable { var street: String }
private struct Person: Codable, Sendable {
  var name: String
  var address: Address
  var tags: [String]
  var byNumber: [Int: Bool]
}

/// Errors of records that do not fit their type.
@Suite struct ValueErrorTests {
  private let fitting: Fields = [
    "name": "Anna", "address": ["street": "High Street"], "tags": ["a", "b"], "byNumber": ["7": true],
  ]

  /// The wrong value, the field that the error names, and the text of the line that it names.
  private let faults: [(field: String, PlistValue?, path: String, line: String)] = [
    ("name", .integer(5), "name", "<integer>5</integer>"),
    ("address", ["street": 5], "address.street", "<integer>5</integer>"),
    ("address", ["road": "x"], "address.street", "<dict>"),
    ("tags", ["a", "b", 2.5], "tags[2]", "<real>2.5</real>"),
    ("byNumber", ["7": "no"], "byNumber.7", "<string>no</string>"),
    ("name", nil, "name", "<dict>"),
  ]

  @Test func errorNamesFieldAndItsLine() throws {
    for (field, value, path, text) in faults {
      try withTable { store, people in
        let id = try #require(people.lastSnapshot.ids.dropFirst().first)
        if let value {
          try store.table("people").set(Fields(field, value), of: id)
        } else {
          try store.table("people").unset([field], of: id)
        }
        try store.checkpoint()
        let error = try #require(storeError { _ = try people.value(of: id) })
        #expect(error.code == .invalidValue && error.record == AnyRecordID(id) && error.table == "people")
        #expect(error.field == path)
        let file = try people.url.path
        let line = try #require(error.line)
        #expect(error.file == file)
        #expect(
          error.description.hasPrefix("\(file):\(line): table 'people': record \(id): field '\(path)': "))
        let lines = try String(contentsOf: people.url, encoding: .utf8).split(separator: "\n")
        #expect(lines[line - 1].trimmingCharacters(in: .whitespaces) == text, "\(path)")
      }
    }
  }

  /// The edited record's bytes in memory are not those of the file.
  @Test func errorFindsLineInHandEditedFile() throws {
    try withTable { store, people in
      try store.checkpoint()
      var text = try String(contentsOf: people.url, encoding: .utf8)
      text = text.replacingOccurrences(of: "<array>\n\t\t<dict>", with: "<array>\n\n\n<dict>")
      text = text.replacing("<string>Anna</string>", with: "<integer>5</integer>", maxReplacements: 1)
      try text.write(to: people.url, atomically: true, encoding: .utf8)
      try store.refresh()
      let error = try #require(storeError { _ = try people.lastSnapshot.values().get() })
      let line = try #require(
        text.split(separator: "\n", omittingEmptySubsequences: false)
          .firstIndex { $0.contains("<integer>5</integer>") })
      #expect(error.line == line + 1 && error.field == "name")
    }
  }

  @Test func errorHasNoLineUntilRecordIsInFile() throws {
    try withTable { store, people in
      let id = people.lastSnapshot.ids[0]
      try store.checkpoint()
      try store.table("people").set(["name": 5], of: id)
      let inJournal = try #require(storeError { _ = try people.value(of: id) })
      #expect(inJournal.line == nil && inJournal.file == nil)
      try store.write { tx in
        try tx["people"].set(["name": 6], of: id)
        let inWrite = storeError { _ = try people.value(of: id) }
        #expect(inWrite?.code == .invalidValue && inWrite?.line == nil)
      }
      // FileDB looks for the line when you ask for it. By then the file has the record.
      let late = try #require(storeError { _ = try people.value(of: id) })
      try store.checkpoint()
      #expect(late.line != nil)
    }
  }

  @Test func singleFieldDecodesDespiteMismatchElsewhere() throws {
    try withTable { store, people in
      try store.table("people").set(["address": "none", "seen": true], of: people.lastSnapshot.ids[0])
      let record = people.lastSnapshot[0]
      #expect(record["name"] == "Anna" && record["missing"] == nil && record["wgFileDbSecretId"] == nil)
      #expect(try record.decode(String.self, "name") == "Anna")
      #expect(try record.decode([String].self, "tags") == ["a", "b"])
      #expect(try record.decode(Int?.self, "missing") == nil)
      let wrong = try #require(storeError { _ = try record.decode(Address.self, "address") })
      #expect(wrong.field == "address" && wrong.record == AnyRecordID(record.id))
      #expect(storeError { _ = try record.decode(Int.self, "missing") }?.field == "missing")
    }
  }

  private func withTable(_ body: (RecordStore, RecordTable<Person>) throws -> Void) throws {
    try withStore(.disk, options: StoreOptions(checkpoints: .manual)) { store in
      for _ in 0..<3 { try store.table("people").add(fitting) }
      try body(store, store.table(TableName<Person>("people")))
    }
  }
}

extension Fields {
  fileprivate init(_ field: String, _ value: PlistValue) {
    self.init()
    self[field] = value
  }
}
