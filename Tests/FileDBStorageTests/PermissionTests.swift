import FileDBStorage
import Foundation
import Testing

@Suite(.enabled(if: noOtherUser == nil, noOtherUser ?? ""))
struct PermissionTests {
  let disk = SystemDisk()

  @Test func folderOfAnotherUserRefusesChanges() throws {
    try withScratchFolder { folder in
      try #require(chmod(folder, 0o755) == 0)
      try disk.put("old", at: "\(folder)/todo")
      try asNobody {
        #expect(kind { _ = try disk.replace("\(folder)/todo", with: "new".bytes) } == .permissionDenied)
        #expect(kind { try disk.makeFolder("\(folder)/sub") } == .permissionDenied)
        #expect(kind { try disk.remove("\(folder)/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.lock("\(folder)/lock", timeout: .zero) } == .permissionDenied)
      }
      #expect(try disk.list(folder) == ["todo"])
      #expect(try disk.text("\(folder)/todo") == "old")
    }
  }

  @Test func unreadableFilesAndFoldersGivePermissionDenied() throws {
    try withScratchFolder { folder in
      try #require(chmod(folder, 0o755) == 0)
      try disk.put("secret", at: "\(folder)/todo")
      try #require(chmod("\(folder)/todo", 0o600) == 0)
      try disk.makeFolder("\(folder)/closed")
      try #require(chmod("\(folder)/closed", 0o700) == 0)
      try asNobody {
        #expect(kind { _ = try disk.read("\(folder)/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.readPrefix("\(folder)/todo", count: 1) } == .permissionDenied)
        #expect(kind { _ = try disk.list("\(folder)/closed") } == .permissionDenied)
        #expect(kind { _ = try disk.status("\(folder)/closed/todo") } == .permissionDenied)
        #expect(kind { _ = try disk.resolve("\(folder)/closed/todo") } == .permissionDenied)
      }
    }
  }
}
