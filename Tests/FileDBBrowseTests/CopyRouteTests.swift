import FileDB
import Foundation
import TestSupport
import Testing

/// A copy that a sync service has made of a table.
@Suite struct CopyRouteTests {
  @Test func copyIsToldAndMerged() async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.store.checkpoint()
      let file = try browsed.store.table("todo").url
      let whole = try Data(contentsOf: file)
      let deleted = try browsed.post("/api/tables/todo/delete", #"{"ids":["3"]}"#)
      #expect(deleted.status == 200)
      try browsed.store.checkpoint()
      let name = "todo (Ann's conflicted copy 2026-11-01).plist"
      try whole.write(to: file.deletingLastPathComponent().appendingPathComponent(name))
      let copies = try #require(try browsed.members("/api/store")["copies"] as? [[String: String]])
      #expect(copies == [["file": name, "kind": "a sync service's copy of a conflict", "table": "todo"]])
      let merged = try browsed.post("/api/copies/merge", "{}")
      #expect(merged.text.contains(#""table":"todo","added":1,"changed":0,"conflicts":0"#), "\(merged.text)")
      #expect(try browsed.list("/api/tables/todo/records").count == 3)
      #expect(try browsed.steps("undo").first == "merge of todo with a copy")
      try browsed.takeBack("undo")
      #expect(try browsed.list("/api/tables/todo/records").count == 2)
    }
  }
}
