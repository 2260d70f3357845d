import FileDB
import Foundation

/// Foundation's typed reader and writer, given FileDB's own file to read and to make.
enum PropertyListCoderPeer: Peer {
  static let name = "PropertyListDecoder"

  private struct Table: Codable {
    var autoincrement: String
    var data: [IdentifiedRow]
    var index: [String: String]
  }

  private struct IdentifiedRow: Codable {
    var title: String
    var note: String
    var amount: Int
    var price: Double
    var due: Date
    var isDone: Bool
    var wgFileDbSecretId: String
  }

  private static func read(_ sample: Sample) throws -> Table {
    try PropertyListDecoder().decode(Table.self, from: Data(contentsOf: sample.file))
  }

  static func cases(_ task: Task, _ sample: Sample) throws -> [Case] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    switch task {
    case .readValues: return []
    case .openAndCount:
      return [
        Case(name: name, runs: 3) {
          let table = try read(sample)
          guard table.data.count == sample.records else { throw WrongResult() }
          return (table, table.data.first)
        }
      ]
    case .readRows: return [Case(name: name, runs: 3) { try read(sample).data }]
    case .writeValues:
      let table = try read(sample)
      let root = try PlistParser.parse(sample.bytes())
      return [
        Case(name: "PropertyListEncoder, typed rows", runs: 3) { try encoder.encode(table) },
        Case(name: "PropertyListEncoder, our PlistValue", runs: 1) { try encoder.encode(root) },
      ]
    case .commit:
      let table = try read(sample)
      let file = sample.folder.appendingPathExtension("encoder.plist")
      return [
        Case(name: "PropertyListEncoder, Data.write(.atomic)", runs: 3) {
          try encoder.encode(table).write(to: file, options: .atomic)
        }
      ]
    }
  }

  static func open(_ sample: Sample) throws -> Any {
    try read(sample)
  }
}
