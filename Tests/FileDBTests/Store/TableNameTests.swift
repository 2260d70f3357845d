import FileDB
import Foundation
import TestSupport
import Testing

/// Which names a table may have.
@Suite struct TableNameTests {
  @Test(arguments: ["bell\u{7}", "x\u{FFFE}", "\u{FFFF}"])
  func noTableIsCreatedWithANameThatXMLCannotHold(name: String) throws {
    try withStore(.disk) { store in
      #expect(storeError { try store.table(name).add([:]) }?.code == .invalidTableName)
      // Another program may have made the file.
      try store.table("t").add(["n": 1])
      try store.checkpoint()
      try FileManager.default.copyItem(
        at: store.url.appendingPathComponent("t.plist"), to: store.url.appendingPathComponent("\(name).plist")
      )
      try store.table(name).add(["n": 2])
      #expect(try store.table(name).count == 2)
      try store.table(name).drop()
      try store.checkpoint()
      #expect(try store.tableNames == ["t"])
    }
  }

  @Test(arguments: [
    "", ".hidden", "a/b", "../up", "/abs", "nul\u{0}", "x.plist", String(repeating: "x", count: 201),
    String(repeating: "é", count: 101),
  ])
  func invalidTableNamesAreRefused(name: String) throws {
    try withStore(.disk) { store in
      #expect(storeError { _ = try store.table(name) }?.code == .invalidTableName)
      #expect(
        storeError { _ = try store.write { tx in try tx[name].add([:]) } }?.code
          == .invalidTableName)
    }
  }

  @Test(arguments: [
    "todo list", "žluťoučký", "a.b", "-x", String(repeating: "x", count: 200), "CON", "é", "e\u{301}",
  ])
  func unusualTableNamesAreAccepted(name: String) throws {
    try withStore(.disk) { store in
      try store.table(name).add(["n": 1])
      #expect(try store.tableNames == [name])
    }
  }
}
