import Foundation

/// Foundation's untyped reader and writer.
enum PropertyListSerializationPeer: Peer {
  static let name = "PropertyListSerialization"

  static func cases(_ task: Task, _ sample: Sample) throws -> [Case] {
    switch task {
    case .readValues:
      let data = try Data(contentsOf: sample.file)
      return [
        Case(name: name, runs: 2) { try PropertyListSerialization.propertyList(from: data, format: nil) }
      ]
    case .writeValues:
      let root = try PropertyListSerialization.propertyList(from: Data(contentsOf: sample.file), format: nil)
      return [
        Case(name: name, runs: 2) {
          try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
        }
      ]
    default: return []
    }
  }

  static func open(_ sample: Sample) throws -> Any {
    try PropertyListSerialization.propertyList(from: Data(contentsOf: sample.file), format: nil)
  }
}
