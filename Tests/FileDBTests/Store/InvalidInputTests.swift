import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

@Suite struct InvalidInputTests {
  @Test func verbsRefuseUnknownIDsAndIndices() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["n": 1])
      let verbs: [(String, () throws -> Void)] = [
        ("update", { try table.update(7) { $0["n"] = 2 } }), ("set", { try table.set(["n": 2], of: 7) }),
        ("unset", { try table.unset(["n"], of: 7) }), ("delete", { try table.delete(7) }),
        ("delete many", { try table.delete([1, 7]) }), ("move", { try table.move(7, to: .top) }),
        ("move beside", { try table.move(1, to: .after(7)) }), ("duplicate", { try table.duplicate(7) }),
        ("add beside", { try table.add([:], at: .before(7)) }), ("read", { _ = try table.value(of: 7) }),
        ("set a property", { try table.set(\.dictionary, to: [:], of: 7) }),
        ("set properties", { try table.set(\.dictionary, to: [:], of: [1, 7]) }),
        ("add with an id", { try table.add([:], id: 2, at: .before(7)) }),
        ("upsert", { try table.upsert([:], id: 2, at: .after(7)) }),
      ]
      for (name, verb) in verbs {
        let error = storeError(verb)
        #expect(error?.code == .recordNotFound, "\(name)")
        #expect(error?.record == 7 && error?.table == "t", "\(name): \(String(describing: error))")
      }
      let indices: [(String, () throws -> Void)] = [
        ("from", { try table.move(fromIndex: 1, toIndex: 0) }),
        ("below", { try table.move(fromIndex: -1, toIndex: 0) }),
        ("to", { try table.move(fromIndex: 0, toIndex: 1) }), ("move", { try table.move(1, to: .index(1)) }),
        ("add", { try table.add([:], at: .index(2)) }), ("before", { try table.add([:], at: .index(-1)) }),
      ]
      for (name, verb) in indices { #expect(storeError(verb)?.code == .indexOutOfRange, "\(name)") }
      #expect(table.lastSnapshot.ids == [1])
    }
  }

  @Test func verbsRefuseTableThatDoesNotExist() throws {
    try withStore { store in
      let table = try store.table("t")
      let verbs: [() throws -> Void] = [
        { try table.truncate() }, { try table.drop() },
      ]
      for verb in verbs {
        let code = storeError(verb)?.code
        #expect(code == .tableNotFound)
      }
      try table.create()
      #expect(storeError { try table.create() }?.code == .tableExists)
    }
  }

  @Test func unrepresentableValuesAndReservedFieldsAreRefused() throws {
    try withStore { store in
      let table = try store.table("t")
      let id = try table.add(["ok": true])
      let refused: [(String, PlistValue)] = [
        ("nul", "a\u{0}b"), ("escape", "\u{1B}[31m"), ("fffe", "\u{FFFE}"), ("ffff", ["deep": ["\u{FFFF}"]]),
        ("late", .date(Date(timeIntervalSince1970: 253_402_300_800))),
        ("early", .date(Date(timeIntervalSince1970: -62_135_596_801))),
        ("never", .date(.distantFuture + 1e18)),
      ]
      for (field, value) in refused {
        for verb in [{ _ = try table.add([field: value]) }, { try table.set([field: value], of: id) }] {
          let error = storeError(verb)
          #expect(error?.code == .unrepresentableValue, "\(field)")
          #expect(error?.field == field)
        }
      }
      #expect(storeError { try table.add(["a\u{1}": 1]) }?.code == .unrepresentableValue)
      #expect(storeError { try table.add(["wgFileDbSecretId": "5"]) }?.code == .reservedField)
      #expect(
        storeError { try table.set(["wgFileDbSecretId": "5"], of: id) }?.code == .reservedField)
      #expect(try table.value(of: id) == ["ok": true])
    }
  }

  /// A schema, a condition and a column of text cannot name it.
  @Test func fieldWithoutANameIsRefused() throws {
    try withStore { store in
      let table = try store.table("t")
      let id = try table.add(["ok": true])
      let writes: [() throws -> Void] = [
        { _ = try table.add(["": 1]) }, { _ = try table.add(contentsOf: [["a": 1], ["": 1]]) },
        { try table.set(["": 1], of: id) }, { try table.update(id, to: ["": 1]) },
        { _ = try table.renameField("ok", to: "") },
        { _ = try store.table(TableName<[String: Int]>("t")).add(["": 1]) },
        { _ = try store.write { tx in _ = try tx[.records("t")].add(["": "x"]) } },
      ]
      for write in writes {
        let error = storeError(write)
        #expect(error?.code == .invalidValue && error?.table == "t", "\(String(describing: error))")
        #expect(error?.message == "a field has no name")
      }
      #expect(table.lastSnapshot.map(\.fields) == [["ok": true]])
      try table.set(["ok": ["": 1]], of: id)  // Inside a value, keys are data.
    }
  }

  @Test func nestingBeyondFileLimitIsRefused() throws {
    try withStore { store in
      let table = try store.table("t")
      func nested(_ depth: Int) -> PlistValue { (0..<depth).reduce("x") { value, _ in [value] } }
      try table.add(["deep": nested(256 - 3)])
      #expect(
        storeError { try table.add(["deep": nested(256 - 2)]) }?.code == .unrepresentableValue)
    }
  }

  @Test func valuesAreReadBackAsTheFileStoresThem() throws {
    try withStore { store in
      let table = try store.table("t")
      let moment = Date(timeIntervalSinceReferenceDate: 1.75)
      let id = try table.add([
        "date": .date(moment), "nan": .real(Double(nan: 5, signaling: false)), "small": .unsigned(5),
        "large": .unsigned(.max), "minus": -0.0, "lines": "a\r\nb\rc\n", "e\u{301}": 1, "\u{e9}": 2,
      ])
      let record = try table.value(of: id)
      #expect(record["date"] == .date(Date(timeIntervalSinceReferenceDate: 1)))
      #expect(record["small"] == .integer(5))
      #expect(record["large"] == .unsigned(.max))
      #expect(record["lines"] == "a\r\nb\rc\n")
      #expect(record.dictionary.count == 8, "fields that look alike are two")
    }
  }

  @Test(arguments: [
    (nil as String?, StoreError.Code.notATable), ("", StoreError.Code.notATable),
    (" \n", StoreError.Code.notATable),
    ("bplist00abc", StoreError.Code.notATable), ("{ a = 1; }", StoreError.Code.notATable),
    ("{\"a\": 1}", StoreError.Code.notATable),
    ("hello", StoreError.Code.notATable), ("<html><body/></html>", StoreError.Code.notATable),
    ("<plist version=\"1.0\"><array/></plist>", StoreError.Code.notATable),
    (
      "<plist version=\"1.0\"><dict><key>CFBundleName</key><string>x</string></dict></plist>",
      StoreError.Code.notATable
    ),
    (
      "<plist version=\"1.0\"><dict><key>autoincrement</key><string>1</string><key>da",
      StoreError.Code.damagedTable
    ),
    ("<plist version=\"1.0\"><dict><key>data</key><array/></dict></plist>", StoreError.Code.damagedTable),
    (tableText(counter: "x", records: []), StoreError.Code.damagedTable),
    (tableText(records: ["<string>no record</string>"]), StoreError.Code.damagedTable),
    (tableText(records: [record("1"), "<dict/>"]), StoreError.Code.damagedTable),
    (tableText(records: [record("01")]), StoreError.Code.damagedTable),
    (tableText(records: [record("-1")]), StoreError.Code.damagedTable),
  ])
  func unreadableTableFilesAreRefusedAndUntouched(text: String?, code: StoreError.Code) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let bytes = text.map { Data($0.utf8) } ?? Data([0xFF, 0xD8, 0xFF, 0xE0])
      try bytes.write(to: file)
      let store = try RecordStore(at: folder)
      let error = storeError { _ = try store.table("t") }
      #expect(error?.code == code, "\(String(describing: error))")
      #expect(error?.file == file.path)
      #expect(error?.table == "t")
      let write = storeError { _ = try store.write { tx in try tx["t"].add(["n": 1]) } }
      #expect(write?.code == code)
      #expect(try Data(contentsOf: file) == bytes, "the file is untouched")
    }
  }

  @Test func tableErrorsNameLineAndRecord() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let store = try RecordStore(at: folder)
      try Data(tableText(records: [record("1"), record("2"), record("1")]).utf8).write(to: file)
      let twice = try #require(storeError { _ = try store.table("t") })
      #expect(twice.line == 8)
      #expect(twice.record == 1)
      #expect(
        twice.description
          == "\(file.path):8: table 't': record 1: the records at indices 0 and 2 have the same id")
      try Data(tableText(records: [record("1"), "<dict><key>a</key><integer>x</integer></dict>"]).utf8).write(
        to: file)
      let integer = try #require(storeError { _ = try store.table("t") })
      #expect(integer.line == 7)
      #expect(integer.message.contains("'x'"))
    }
  }

  @Test func truncatedTableFileIsAlwaysRefused() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      let whole = Array(tableText(records: [record("1"), record("2")]).utf8)
      for length in 0..<(whole.count - 1) {
        try Data(whole[..<length]).write(to: file)
        let error = storeError { _ = try RecordStore(at: folder).table("t") }
        #expect(error != nil, "cut at byte \(length)")
      }
    }
  }

  @Test func tableWithTwoFilesIsAmbiguous() throws {
    try withTemporaryFolder { folder in
      for name in ["todo", "todo.plist"] {
        try Data(tableText(records: [record("1")]).utf8).write(to: folder.appendingPathComponent(name))
      }
      let store = try RecordStore(at: folder)
      #expect(storeError { _ = try store.table("todo") }?.code == .ambiguousTable)
      #expect(try store.check("todo").map(\.severity) == [.damage])
    }
  }

  @Test func storeMustBeAFolder() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      #expect(storeError { _ = try RecordStore(at: file) }?.code == .notAFolder)
      let web = try #require(URL(string: "https://example.org/store"))
      #expect(storeError { _ = try RecordStore(at: web) }?.code == .notAFolder)
      let link = folder.appendingPathComponent("loop")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: link)
      let loop = try #require(storeError { _ = try RecordStore(at: link) })
      #expect(loop.code == .inputOutput)
      #expect(loop.errno == ELOOP)
    }
  }

  @Test func tableFileThatIsCircularLinkIsAnError() throws {
    try withTemporaryFolder { folder in
      let link = folder.appendingPathComponent("t.plist")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: link)
      let store = try RecordStore(at: folder)
      let error = try #require(storeError { _ = try store.table("t") })
      #expect(error.errno == ELOOP)
      #expect(error.file == link.path)
    }
  }

  @Test func folderInPlaceOfTableFileIsAnError() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("t.plist"), withIntermediateDirectories: false)
      #expect(storeError { _ = try store.table("t") }?.code == .inputOutput)
      #expect(try store.tableNames == [])
    }
  }

  /// Files of such names can be there on Linux; see ``TransactionTests`` for new tables.
  @Test func filesWhoseNamesOnlyLookAlikeAreDifferentTables() throws {
    try withStore(.disk) { store in
      try store.table("e\u{301}").add(["from": "two scalars"])
      try store.table("other").add(["from": "one scalar"])
      try store.checkpoint()
      let files = [try store.url(of: "other"), try store.url(of: "\u{E9}")].map(\.path)
      try store.disk.rename(files[0], to: files[1])
      let fresh = try RecordStore(at: store.url)
      #expect(try fresh.table("e\u{301}").value(of: 1) == ["from": "two scalars"])
      #expect(try fresh.table("\u{E9}").value(of: 1) == ["from": "one scalar"])
      try fresh.write { tx in
        try tx["\u{E9}"].add(["n": 1])
        try tx["e\u{301}"].delete(1)
      }
      #expect(try fresh.tableNames.map { Array($0.unicodeScalars).count } == [2, 1])
    }
  }

  @Test func damagedTableDoesNotBlockOthers() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      let (bad, good) = (try store.table("bad"), try store.table("good"))
      try bad.add(["n": 1])
      try good.add(["n": 1])
      try store.checkpoint()
      try Data("broken".utf8).write(to: bad.url)
      try good.add(["n": 2])
      let other = try RecordStore(at: folder)
      try other.table("good").add(["n": 3])
      #expect(storeError { try store.refresh() }?.code == .notATable)
      #expect(good.lastSnapshot.ids == [1, 2, 3], "read in before the error was thrown")
      #expect(bad.lastSnapshot.ids == [1], "as it was last read")
    }
  }

  @Test func tableOverSizeLimitFailsWholeTransaction() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder, options: StoreOptions(limits: PlistLimits(fileBytes: 2_000)))
      let error = storeError {
        try store.write { tx in
          try tx["a"].add(["n": 1])
          try tx["b"].add(["n": .string(String(repeating: "x", count: 3_000))])
        }
      }
      #expect(error?.code == .unrepresentableValue)
      #expect(error?.table == "b")
      #expect(try store.tableNames == [])
    }
  }

  @Test func danglingLinkIsKeptAndWrittenThrough() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("store"))
      try store.table("other").create()
      let link = store.url.appendingPathComponent("t.plist")
      let target = folder.appendingPathComponent("unmounted/t.plist")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
      #expect(storeError { try store.table("t").add(["n": 1]) }?.code == .fileNotFound)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target.path)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try store.table("t").add(["n": 1])
      try store.checkpoint()
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target.path)
      #expect(FileManager.default.fileExists(atPath: target.path))
      try store.checkInvariants()
    }
  }

  @Test func twoTablesLinkedToOneFileAreAmbiguous() throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("b").add(["n": 0])
      try FileManager.default.createSymbolicLink(
        atPath: folder.path + "/a.plist", withDestinationPath: folder.path + "/b.plist")
      let error = storeError {
        try store.write { tx in
          try tx["a"].add(["n": 1])
          try tx["b"].add(["n": 2])
        }
      }
      #expect(error?.code == .ambiguousTable)
      #expect(try RecordStore(at: folder).table("b").count == 1, "nothing is written")
      try FileManager.default.removeItem(atPath: folder.path + "/a.plist")
      try RecordStore(at: folder).checkInvariants()
    }
  }

  @Test func oversizedFileIsRefusedUnread() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("t.plist")
      try Data("<plist>".utf8).write(to: file)
      #expect(truncate(file.path, 1 << 40) == 0, "a terabyte, of which nothing is on the disk")
      let store = try RecordStore(at: folder)
      let error = try #require(storeError { _ = try store.table("t") })
      #expect(error.code == .damagedTable)
      #expect(error.message.contains("longer than"))
      #expect(try store.check("t").map(\.severity) == [.damage])
    }
  }

  @Test func addFailsWhenCounterIsExhausted() throws {
    try withTemporaryFolder { folder in
      let text = tableText(counter: String(Int64.max), records: [record("1")])
      try Data(text.utf8).write(to: folder.appendingPathComponent("t.plist"))
      let table = try RecordStore(at: folder).table("t")
      #expect(storeError { try table.add([:]) }?.code == .counterExhausted)
      #expect(try table.count == 1)
    }
  }

  /// A table comes into being with its first record. Before, there is nothing to sort or to delete.
  @Test func tableThatDoesNotExistYetIsLikeAnEmptyOne() throws {
    try withStore { store in
      let table = try store.table("none")
      try table.deleteAll()
      try table.sort(by: [.ascending("n")])
      for verb in [
        { try table.delete(1) }, { try table.delete([1, 2]) }, { try table.set(["n": 1], of: 1) },
      ]
        as [() throws -> Void]
      {
        let error = storeError { try verb() }
        #expect(error?.code == .recordNotFound && error?.table == "none" && error?.record == 1)
      }
      #expect(try store.tableNames.isEmpty)
    }
  }

  @Test func moveToItsOwnPlaceIsNoCommit() throws {
    try withStore(.disk) { store in
      let table = try store.table("t")
      try table.add(contentsOf: [["n": 1], ["n": 2], ["n": 3]])
      let before = try table.commitsBehind
      try table.move(2, to: .index(1))
      try table.move(2, to: .after(1))
      try table.move(2, to: .before(3))
      try table.move(1, to: .top)
      try table.move(3, to: .bottom)
      try table.move(fromIndex: 1, toIndex: 1)
      try table.move(fromOffsets: [1], toOffset: 2)
      let after = try table.commitsBehind
      #expect(after == before && before > 0)
      #expect(storeError { try table.move(2, to: .index(3)) }?.code == .indexOutOfRange)
    }
  }

  @Test func storeIsNotClosedInsideAWrite() throws {
    try withStore { store in
      try store.write { tx in
        #expect(storeError { try store.close() }?.code == .insideWrite)
        try tx["t"].add(["n": 1])
      }
      try store.table("t").add(["n": 2])
    }
  }

  @Test func nameOfAnUndoStepMustBeText() throws {
    try withStore { store in
      let error = storeError {
        _ = try store.undoLog.write(named: "a\u{1}") { tx in try tx["t"].add(["n": 1]) }
      }
      #expect(error?.code == .unrepresentableValue && error?.message.contains("name of the step") == true)
      let names = try store.tableNames
      #expect(names.isEmpty)
    }
  }
}
