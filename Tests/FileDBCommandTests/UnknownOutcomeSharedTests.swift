import FileDBCluster
import Foundation
import TestSupport
import Testing

/// A command that could not say whether it was carried out.
@Suite(.serialized, .enabled(if: !SharedEngine.available.isEmpty, SharedEngine.isMissing))
struct UnknownOutcomeSharedTests {
  /// The commands that find out.
  private static let settling = ["shared sync", "shared status", "add t title=Next"]

  @Test(arguments: SharedEngine.available, LossyProxy.Loss.allCases) func nextCommandFindsOutForGood(
    engine: SharedEngine, loss: LossyProxy.Loss
  ) throws {
    for command in Self.settling {
      try engine.withStore { folder, address in
        func here(_ line: String) throws -> ToolResult {
          try shell("filedb --store here \(line)", in: folder)
        }
        #expect(try filedb("--store", address, "create", "t", in: folder).status == 0)
        #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
        #expect(try here("add t title=First").status == 0)
        let identity = try joined("here", in: folder)
        let usual = try #require(JoinedStores().address(of: identity))

        let proxy = try engine.proxy(losing: loss)
        try JoinedStores().add(engine.address(of: address, by: proxy), of: identity)
        let lost = try here("--timeout 0.5 add t title=Lost")
        #expect(lost.status == 76 && lost.error.contains("'filedb shared sync' finds out"), "\(lost)")
        let note = folder.appendingPathComponent("here/.filedb/replica/.filedb/sent").path
        let mode = try FileManager.default.attributesOfItem(atPath: note)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // Nobody answers, so it stays unknown.
        for line in Self.settling { #expect(try here(line).status == 69, "\(line)") }
        #expect(try here("shared status").output.contains("unknown commit"))

        try JoinedStores().add(usual, of: identity)
        let found = try here(command)
        let outcome = loss == .answer ? "was carried out" : "was not carried out, and never will be"
        #expect(found.status == 0 && found.error.contains(outcome), "\(command): \(found)")
        #expect(found.error.contains("(addition of 1 record to t)"), "\(command): \(found)")
        if loss == .delay { try proxy.deliver() }
        let again = try here("shared sync")
        #expect(again.status == 0 && !again.error.contains("carried out"), "\(again)")
        #expect(!FileManager.default.fileExists(atPath: note))
        let titles = try here("export t - --format csv --fields title --no-id").output
          .split(separator: "\n").dropFirst().map(String.init)
        let expected =
          ["First"] + (loss == .answer ? ["Lost"] : []) + (command.hasPrefix("add") ? ["Next"] : [])
        #expect(titles == expected, "\(command)")
        // The command that was carried out can be undone, too.
        for _ in 1..<expected.count { #expect(try here("undo").status == 0) }
        #expect(try filedb("--store", address, "count", "t", in: folder).output == "1\n")
      }
    }
  }

  /// Nobody hears of the commit of a command that was killed, either.
  @Test(arguments: SharedEngine.available) func commandThatIsKilledIsSettled(engine: SharedEngine)
    async throws
  {
    let folders = try (0..<2).map { _ in try makeTemporaryFolder() }
    defer { for folder in folders { try? FileManager.default.removeItem(at: folder) } }
    let (url, name, folder) = (try engine.url, UUID().uuidString, folders[0])
    let address = "\(url)\(engine == .etcd ? "?" : "&")store=\(name)"
    #expect(try filedb("shared", "init", url, name, in: folder).status == 0)
    #expect(try filedb("--store", address, "create", "t", in: folder).status == 0)
    #expect(try filedb("shared", "join", address, "here", in: folder).status == 0)
    let identity = try joined("here", in: folder)
    let usual = try #require(JoinedStores().address(of: identity))
    let proxy = try engine.proxy(losing: .delay)
    try JoinedStores().add(engine.address(of: address, by: proxy), of: identity)
    do {
      let tool = try RunningTool(
        ["--store", "here", "--timeout", "1000", "add", "t", "title=Lost"], in: folder, scratch: folders[1])
      let note = folder.appendingPathComponent("here/.filedb/replica/.filedb/sent")
      try await wait(for: "the commit to be noted") {
        (try? Data(contentsOf: note))?.last == UInt8(ascii: "\n")
      }
      // It is killed with its last reference.
      withExtendedLifetime(tool) {}
    }
    try JoinedStores().add(usual, of: identity)
    let found = try filedb("--store", "here", "shared", "sync", in: folder)
    #expect(found.status == 0 && found.error.contains("was not carried out"), "\(found)")
    #expect(try filedb("--store", address, "count", "t", in: folder).output == "0\n")
  }
}
