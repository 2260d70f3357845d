import Foundation
import TestSupport
import Testing

/// The terminal sessions of the guides and of the cookbook, each run from its first line to its last in a new folder.
@Suite struct GuideTests {
  @Test(arguments: Guide.all) func sessionPrintsAsShown(_ guide: Guide) throws {
    if let missing = guide.missingProgram { try Test.cancel("needs \(missing)") }
    try withTemporaryFolder { folder in
      let setup = try guide.run(guide.setup, in: folder)
      try #require(setup == "", "\(setup)")
      var place = folder
      for step in try guide.steps() {
        let words = step.command.split(separator: " ")
        switch words.first {
        case "cd": place = place.appendingPathComponent(String(words[1])).standardizedFileURL
        case "cat" where !FileManager.default.fileExists(atPath: place.path + "/" + words[1]):
          // A file that the reader has: what is shown is what is in it.
          try Data(step.output.utf8).write(to: place.appendingPathComponent(String(words[1])))
        default:
          #expect(try guide.run(step.command, in: place, home: folder) == step.output, "\(step.command)")
        }
      }
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      where name.hasSuffix(".filedb") && !name.contains("build") {
        let store = folder.appendingPathComponent(name).deletingLastPathComponent()
        #expect(try filedb("check", in: store).status == 0, "\(name)")
      }
    }
  }

  @Test func noSessionIsLeftOut() throws {
    let names = try ["Guides", "Cookbook"].flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: Guide.folder.appendingPathComponent(folder).path)
        .map { "\(folder)/\($0)" }
    }
    let withSessions = try names.filter {
      try String(contentsOf: Guide.folder.appendingPathComponent($0), encoding: .utf8).contains(
        "```console\n")
    }
    #expect(Set(Guide.all.map(\.name)).isSuperset(of: withSessions))
  }
}

/// The scripts that ask FileDB and another store for the same thing.
@Suite struct ElevenThingsTests {
  private static let folder = packageRoot.appendingPathComponent("Examples/ElevenThings")
  static let scripts = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    .filter { $0 != "setup" }.sorted()

  @Test(arguments: scripts) func scriptFindsWhatItClaims(_ script: String) throws {
    try withTemporaryFolder { folder in
      let path = Self.folder.appendingPathComponent(script).path
      let result = try shell("TMPDIR='\(folder.path)' '\(path)'", in: folder)
      if result.output.hasPrefix("skipped: ") { try Test.cancel("\(result.output)") }
      #expect(result.status == 0, "\(result)")
      #expect(result.output.contains("# FileDB: "))
    }
  }

  @Test func pageNamesEachScript() throws {
    let page = try String(contentsOf: Guide.folder.appendingPathComponent("ElevenThings.md"), encoding: .utf8)
    #expect(Self.scripts.count == 11)
    for script in Self.scripts { #expect(page.contains("| `\(script)` |"), "\(script)") }
  }
}
