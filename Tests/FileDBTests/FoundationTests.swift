import Foundation
import TestSupport
import Testing

/// `filedb` starts quickly because it is linked without the larger part of Foundation. A single import would add that
/// again.
@Suite struct FoundationTests {
  @Test(arguments: [
    "FileDBPlist", "FileDBStorage", "FileDBTables", "FileDB", "FileDBExchange", "FileDBCommand",
    "FileDBProgram",
  ])
  func moduleImportsEssentialsAlone(module: String) throws {
    let folder = packageRoot.appendingPathComponent("Sources/\(module)")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".swift") && !$0.contains(".docc/")
    }
    #expect(!names.isEmpty)
    for name in names {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      // An indented one is for a platform where Foundation is there anyway.
      #expect(!text.split(separator: "\n").contains("import Foundation"), "\(module)/\(name)")
    }
  }
}
