import FileDBLegacy
import Foundation
import Testing

/// The root of the folders is one for the whole process, so these tests run one after another.
@Suite(.serialized) enum LegacyTests {
  /// Runs `body` with the root in a folder of its own, gone after it.
  static func withRoot(_ body: (URL) throws -> Void) throws {
    let root = FileManager.default.temporaryDirectory
      .appendingPathComponent("FileDB-legacy-\(UUID().uuidString)", isDirectory: true)
    wgPaths.root = root
    defer {
      wgPaths.root = nil
      try? FileManager.default.removeItem(at: root)
    }
    try body(root)
  }

  static func error(_ body: () throws -> Void) -> StoreError? {
    do { try body() } catch { return error as? StoreError }
    return nil
  }

  static func contents(_ folder: String) -> Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
  }
}

/// How the original read a table: the whole file as a dictionary, an item by its place in `index`, every number by
/// `intValue`, where what is missing or no number is 0.
struct OriginalReader {
  let root: NSDictionary
  let items: [NSDictionary]

  init(_ path: String) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let value = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
    root = try #require(value as? NSDictionary)
    items = try #require(root[kFileDbDataKey] as? [NSDictionary])
  }

  /// The numbers of the original are strings; this fails if one is not.
  static func intValue(_ value: Any?) throws -> Int {
    let digits = try #require(value as? String)
    return try #require(Int(digits))
  }

  var counter: Int { get throws { try Self.intValue(root[kFileDbAIKey]) } }
  var index: [String: Any] { get throws { try #require(root[kFileDbIndexKey] as? [String: Any]) } }
  var ids: [Int] { get throws { try items.map { try Self.intValue($0[kMainIdKey]) } } }

  func item(_ id: Int) throws -> NSDictionary { items[try Self.intValue(index["\(id)"])] }

  /// Whether the original finds every item by its id, and nothing else.
  func check() throws {
    #expect(try index.count == items.count)
    for (place, item) in items.enumerated() {
      let id = try Self.intValue(item[kMainIdKey])
      #expect(try Self.intValue(index["\(id)"]) == place)
      #expect(try self.item(id) == item)
      #expect(try id <= counter)
    }
  }
}
