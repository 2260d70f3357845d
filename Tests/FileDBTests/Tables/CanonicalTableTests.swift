import FileDB
import FileDBStorage
import Foundation
import TestSupport
import Testing

/// The scanner reads a table's file as the parser does.
@Suite struct CanonicalTableTests {
  private static let file = "/store/t.plist"
  private static let firstLine = #"<?xml version="1.0" encoding="UTF-8"?>"#.utf8.count + 1

  @Test func writtenTableIsReadByScanner() throws {
    var random = SeededRandom.fromEnvironment("scanned tables")
    for count in [0, 1, 2, 9, 10, 11, 99, 101, 1_000] {
      let bytes = try table(count, &random)
      let state = try #require(CanonicalTable.decode(bytes)?.state)
      #expect(state.records.count == count)
      let ofParts = try #require(CanonicalTable.decode(bytes, leastPart: 40)?.state)
      #expect(ofParts.records.elementsEqual(state.records))
      #expect(try read(bytes) == read(forParser(bytes)))
      #expect(CanonicalTable.decode(forParser(bytes))?.state == nil)
    }
  }

  @Test func scannerAgreesWithParserOnChangedFiles() throws {
    var random = SeededRandom.fromEnvironment("changed tables")
    var scanned = 0
    for _ in 0..<4_000 {
      var bytes = try table(.random(in: 0...4, using: &random), &random)
      mutate(&bytes, &random)
      let isScanned = CanonicalTable.decode(bytes)?.state != nil
      if isScanned { scanned += 1 }
      #expect((CanonicalTable.decode(bytes, leastPart: 60)?.state != nil) == isScanned)
      let (fast, slow) = (try read(bytes), try read(forParser(bytes)))
      #expect(fast == slow, "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(scanned > 100, "a changed letter or digit of a value leaves the file canonical")
  }

  @Test(arguments: [
    ("\t\t<key>1</key>\n\t\t<string>0</string>\n", ""),
    ("<string>1</string>\n\t</dict>", "<string>0</string>\n\t</dict>"),
    ("<key>1</key>\n\t\t<string>0", "<key>1</key>\n\t\t<string>1"),
    ("<key>2</key>\n\t\t<string>1", "<key>3</key>\n\t\t<string>1"),
    ("<string>2</string>\n\t<key>data", "<string>02</string>\n\t<key>data"),
    ("Id</key>\n\t\t\t<string>2<", "Id</key>\n\t\t\t<string>1<"),
    ("<key>data</key>", "<key>date</key>"), ("\t<key>index</key>", "\t<key>aindex</key>"),
    ("</plist>\n", "</plist>"),
  ])
  func scannerLeavesIrregularTablesToParser(old: String, new: String) throws {
    let store = RecordStore.inMemory()
    try store.table("t").add(contentsOf: [["n": 1], ["n": 2]])
    try store.checkpoint()
    let text = String(decoding: try store.disk.read(store.url.path + "/t.plist").bytes, as: UTF8.self)
    #expect(CanonicalTable.decode(Array(text.utf8))?.state != nil)
    try #require(text.contains(old))
    #expect(CanonicalTable.decode(Array(text.replacingOccurrences(of: old, with: new).utf8))?.state == nil)
  }

  @Test func keysOfOtherProgramsAreKept() throws {
    let store = RecordStore.inMemory()
    try store.table("t").add(["n": 1])
    try store.checkpoint()
    let path = store.url.path + "/t.plist"
    let text = String(decoding: try store.disk.read(path).bytes, as: UTF8.self)
      .replacingOccurrences(
        of: "\t<key>data</key>",
        with: "\t<key>bar</key>\n\t<array>\n\t\t<true/>\n\t</array>\n\t<key>data</key>")
    let state = try #require(CanonicalTable.decode(Array(text.utf8))?.state)
    #expect(state.foreignKeys == ["bar": [true]])
    #expect(state.counter == 1)
  }

  /// A thread may begin inside the value of another program's key, which is indented as deep as records are.
  @Test func dictionariesBehindRecordsAreNotTakenForRecords() throws {
    var random = SeededRandom.fromEnvironment("tables with more dictionaries")
    let text = String(decoding: try table(3, &random), as: UTF8.self)
    let record = try #require(text.range(of: "\t\t<dict>\n")).lowerBound
    let end = try #require(text.range(of: "\t</array>\n\t<key>index")).lowerBound
    let more =
      "\t<key>more</key>\n\t<array>\n" + String(repeating: String(text[record..<end]), count: 8)
      + "\t</array>\n"
    let bytes = Array(text.replacing("</dict>\n</plist>", with: more + "</dict>\n</plist>").utf8)
    let state = try #require(CanonicalTable.decode(bytes, leastPart: 40)?.state)
    #expect(state.records.count == 3 && state.foreignKeys["more"]?.array?.count == 24)
  }

  private func table(_ count: Int, _ random: inout SeededRandom) throws -> [UInt8] {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    try table.create()
    try table.add(
      contentsOf: (0..<count).map { _ in
        [
          "wgFile": .integer(.random(in: -5...5, using: &random)), "z & y": .string("a <\u{e9}> \n letter"),
          "d": ["x": [true, 1.5]],
        ]
      })
    for _ in 0..<count / 2 { try table.move(fromIndex: .random(in: 0..<count, using: &random), toIndex: 0) }
    try store.checkpoint()
    return try store.disk.read(store.url.path + "/t.plist").bytes
  }

  /// The same bytes with an unusual space, so that the scanner refuses them.
  private func forParser(_ bytes: [UInt8]) -> [UInt8] { bytes[..<5] + [0x20] + bytes[5...] }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    let place = Int.random(in: Self.firstLine..<bytes.count, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[place] ^= 1 << Int.random(in: 0..<8, using: &random)
    case 1: bytes[place] = Array("0129<>&/\n\tae".utf8).randomElement(using: &random)!
    case 2: bytes.remove(at: place)
    case 3: bytes.insert(bytes.randomElement(using: &random)!, at: place)
    default:
      // A line twice.
      let line = bytes[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
      let end = bytes[place...].firstIndex(of: 10).map { $0 + 1 } ?? bytes.count
      bytes.insert(contentsOf: bytes[line..<end], at: end)
    }
  }

  /// The records in a store that has this file, or the error.
  private func read(_ bytes: [UInt8]) throws -> String {
    let disk = MemoryDisk()
    try disk.createFolder("/store")
    _ = try disk.replace(Self.file, with: bytes)
    let store = try RecordStore(at: URL(fileURLWithPath: "/store"), disk: disk, options: StoreOptions())
    do {
      let snapshot = try store.table("t").lastSnapshot
      return "\(snapshot.counter): " + snapshot.map { "\($0.id) \($0.fields)" }.joined(separator: "; ")
    } catch {
      return "\(error)"
    }
  }
}
