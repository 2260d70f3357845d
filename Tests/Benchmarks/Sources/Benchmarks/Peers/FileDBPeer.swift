import FileDB
import Foundation

enum FileDBPeer: Peer {
  static let name = "FileDB"

  static func cases(_ task: Task, _ sample: Sample) throws -> [Case] {
    switch task {
    case .readValues:
      let bytes = try sample.bytes()
      return [Case(name: "FileDB: PlistParser.parse", isOurs: true) { try PlistParser.parse(bytes) }]
    case .openAndCount:
      return [
        Case(name: "FileDB: RecordStore, count, first row", isOurs: true) {
          let table = try RecordStore(at: sample.folder).table(.sample)
          guard table.count == sample.records else { throw WrongResult() }
          return (table, try table.snapshot.first?.value)
        }
      ]
    case .readRows:
      return [
        Case(name: "FileDB: RecordStore, snapshot.values()", isOurs: true) {
          try RecordStore(at: sample.folder).table(.sample).snapshot.values()
        }
      ]
    case .writeValues:
      let root = try PlistParser.parse(sample.bytes())
      return [Case(name: "FileDB: PlistWriter.document", isOurs: true) { try PlistWriter.document(root) }]
    case .commit: return try commits(sample)
    }
  }

  private static func commits(_ sample: Sample) throws -> [Case] {
    // A store of its own, since a commit changes the file.
    let copy = sample.folder.appendingPathExtension("commit")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: sample.file, to: copy.appendingPathComponent("sample.plist"))
    let table = try RecordStore(at: copy).table(.sample)
    guard let first = table.snapshot.ids.first else { throw WrongResult() }
    let rows = sample.rows()
    var price = 0.0
    return [
      Case(name: "FileDB: replaceAll with typed rows", isOurs: true) {
        try table.replaceAll(with: zip(1..., rows).map { IdentifiedRow($1, id: RecordID(rawValue: $0)) })
      },
      Case(name: "FileDB: one field set, whole table written") {
        price += 1
        try table.set(["price": .real(price)], of: first)
        return table
      },
    ]
  }

  static func open(_ sample: Sample) throws -> Any {
    let store = try RecordStore(at: sample.folder)
    return (store, try store.table(.sample))
  }
}

struct WrongResult: Error {}
