import FileDB
import FileDBBrowse
import Foundation
import TestSupport
import Testing

/// A folder that follows a shared store.
@Suite struct SharedStateTests {
  private static let todo = BrowseServer.SharedStore(address: "postgres://db.example/app?store=todo") {
    ["todo"]
  }

  private static func state(_ browsed: BrowsedStore) throws -> [String: Any] {
    try #require(try browsed.members("/api/store")["shared"] as? [String: Any])
  }

  @Test func addressAndEditedFilesAreTold() async throws {
    try await withBrowsedStore(shared: Self.todo) { browsed throws in
      let state = try Self.state(browsed)
      #expect(state["address"] as? String == "postgres://db.example/app?store=todo")
      #expect(state["edited"] as? [String] == ["todo"])
      #expect(state["problem"] is NSNull)
    }
  }

  @Test func whatKeepsTheFolderBehindIsTold() async throws {
    try await withBrowsedStore(shared: Self.todo) { browsed throws in
      try browsed.store.checkpoint()
      let file = try browsed.store.table("todo").url
      let whole = try Data(contentsOf: file)
      let end = try #require(whole.range(of: Data("Bread".utf8))).upperBound
      try whole.prefix(end).write(to: file)
      try wait(for: "the broken file to be told") {
        try (Self.state(browsed)["problem"] as? String)?.contains("todo.plist") ?? false
      }
      let repairs = try #require(try Self.state(browsed)["repairs"] as? [[String: Any]])
      #expect(repairs.first?["table"] as? String == "todo" && repairs.first?["kept"] as? Int == 1)
      try whole.write(to: file)
      try wait(for: "the whole file to be read") { try Self.state(browsed)["problem"] is NSNull }
    }
  }
}
