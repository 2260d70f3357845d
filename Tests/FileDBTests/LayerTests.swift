import Foundation
import TestSupport
import Testing

/// The folders of FileDB have an order. A folder may use only those below it. So each one compiles with these alone.
@Suite struct LayerTests {
  struct Layer: Sendable, CustomTestStringConvertible {
    let folder: String
    let below: [String]

    var testDescription: String { folder }
  }

  private static let store = ["Engine", "Values", "Transactions", "Store"]
  private static let queries = store + ["Schema", "Predicates", "Queries"]

  private static let layers = [
    Layer(folder: "Engine", below: []),
    Layer(folder: "Values", below: []),
    Layer(folder: "Transactions", below: ["Engine", "Values"]),
    Layer(folder: "Store", below: ["Engine", "Values", "Transactions"]),
    Layer(folder: "Schema", below: store),
    Layer(folder: "Predicates", below: store),
    Layer(folder: "Queries", below: store + ["Predicates"]),
    Layer(folder: "Observation", below: queries),
    Layer(folder: "Undo", below: queries),
    Layer(folder: "Attach", below: queries),
    Layer(folder: "Merge", below: queries + ["Attach"]),
    Layer(folder: "Repair", below: queries + ["Attach", "Merge"]),
    Layer(folder: "Copies", below: queries + ["Observation", "Undo", "Attach", "Merge", "Repair"]),
    Layer(folder: "Shipping", below: queries + ["Undo", "Attach", "Merge", "Repair"]),
  ]

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Sources/FileDB").standardizedFileURL

  private static func files(in folder: String) throws -> [String] {
    let url = sources.appendingPathComponent(folder)
    let names = try FileManager.default.subpathsOfDirectory(atPath: url.path)
    return names.filter { $0.hasSuffix(".swift") }.map { url.appendingPathComponent($0).path }
  }

  @Test(
    .enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"),
    arguments: layers)
  func folderCompilesWithThoseBelowItAlone(_ layer: Layer) throws {
    let (status, output) = try Compiler.typeCheck(
      Self.files(in: layer.folder), with: layer.below.flatMap(Self.files), module: "FileDB",
      // The name of the package is the one that SwiftPM gives it, by the folder of the checkout.
      package: Self.packageName)
    let errors = output.split(separator: "\n").filter { $0.contains("error:") }.prefix(10)
    #expect(status == 0, "\(errors.joined(separator: "\n"))")
  }

  private static var packageName: String {
    let checkout = sources.deletingLastPathComponent().deletingLastPathComponent().lastPathComponent
    return String(checkout.lowercased().map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
  }

  @Test func everyFolderHasItsPlace() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
      .filter { $0 != "FileDB.docc" && !$0.hasPrefix(".") }
    #expect(Set(folders) == Set(Self.layers.map(\.folder)))
  }

  /// Only these may name what is below the log. All others use its six verbs, or the folder of a store.
  @Test func onlyTheEngineImportsTheStorage() throws {
    let importing = try Self.layers.flatMap { try Self.files(in: $0.folder) }.filter {
      try String(contentsOfFile: $0, encoding: .utf8).contains("\nimport FileDBStorage\n")
        || String(contentsOfFile: $0, encoding: .utf8).hasPrefix("import FileDBStorage\n")
    }
    let outside = importing.filter { !$0.contains("/Sources/FileDB/Engine/") }
      .map { URL(fileURLWithPath: $0).lastPathComponent }
    #expect(Set(outside) == ["RecordStore.swift"])
  }
}
