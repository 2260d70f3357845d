import Foundation
import TestSupport
import Testing

/// What `import FileDB` shows of the modules below it.
@Suite(.enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"))
struct ImportTests {
  @Test(arguments: ["PlistValue", "PlistDictionary", "PlistLimits", "Fields", "StoreError"])
  func typesOfThePublicAPIAreSeen(_ type: String) throws {
    let (status, output) = try compile(mentioning: type)
    #expect(status == 0, "\(output)")
  }

  @Test(arguments: ["PlistParser", "PlistWriter", "PlistError", "FileDBPlist.PlistParser", "SystemDisk"])
  func whatIsBelowIsNotSeen(_ type: String) throws {
    let (status, output) = try compile(mentioning: type)
    #expect(status != 0 && output.contains("'\(type.split(separator: ".").last ?? "")'"), "\(output)")
  }

  private func compile(mentioning type: String) throws -> (status: Int32, output: String) {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("Snippet.swift")
      try Data("import FileDB\nfunc mention() { _ = \(type).self }\n".utf8).write(to: file)
      return try Compiler.run(["-typecheck", "-parse-as-library", file.path])
    }
  }
}
