import Foundation

/// Foundation's untyped reader and writer of property lists.
final class PropertyListSerializationPeer: Peer {
  static let name = "PropertyListSerialization"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .parse, .serialize, .open, .checkpoint: 100_000
    default: 0
    }
  }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .parse:
      let data = try Data(contentsOf: sample.file)
      return { [self] in try seconds(of: { try PropertyListFile.parse(data) }, check: check) }
    case .open: return { [self] in try seconds(of: { try PropertyListFile.read(sample.file) }, check: check) }
    case .serialize:
      let root = try PropertyListFile.read(sample.file)
      return {
        try seconds(
          of: { try PropertyListFile.serialize(root) },
          check: { try expect($0.count > 1_000, "the document") })
      }
    case .checkpoint: return try writing()
    default: return nil
    }
  }

  private func check(_ root: [String: Any]) throws {
    let rows = root["data"] as? [[String: Any]]
    try sample.checkOpening(rows?.count ?? 0, rows?.first?["title"] as? String)
  }

  private func writing() throws -> Run {
    let root = try PropertyListFile.read(sample.file)
    let copy = try sample.scratch("PropertyListSerialization").appendingPathComponent("sample.plist")
    return { [self] in
      try seconds(
        of: { try PropertyListFile.write(root, to: copy) },
        check: { try check(PropertyListFile.read(copy)) })
    }
  }

  func memoryOfOpening() throws -> ResidentMemory.Growth? {
    try ResidentMemory.growth { try PropertyListFile.read(sample.file) }
  }
}

/// A property list that is read and written as a whole, untyped.
enum PropertyListFile {
  static func read(_ file: URL) throws -> [String: Any] { try parse(Data(contentsOf: file)) }

  static func parse(_ data: Data) throws -> [String: Any] {
    guard let root = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else { throw WrongResult("the root is no dictionary") }
    return root
  }

  static func serialize(_ root: [String: Any]) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
  }

  static func write(_ root: [String: Any], to file: URL) throws {
    try serialize(root).write(to: file, options: .atomic)
  }
}
