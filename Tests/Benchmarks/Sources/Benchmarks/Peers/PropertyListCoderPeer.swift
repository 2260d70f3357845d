import Foundation

/// Foundation's typed reader and writer of property lists, on a file of FileDB's shape: the whole file is read once,
/// kept in memory, and replaced as a whole for each commit.
final class PropertyListCoderPeer: Peer {
  static let name = "PropertyListDecoder/Encoder"

  private struct Table: Codable {
    var autoincrement: String
    var data: [Row]
    var index: [String: String]
  }

  private struct Row: Codable {
    var title: String
    var note: String
    var amount: Int
    var price: Double
    var due: Date
    var isDone: Bool
    var wgFileDbSecretId: String

    init(_ identified: IdentifiedEntry) {
      let entry = identified.entry
      (title, note, amount) = (entry.title, entry.note, entry.amount)
      (price, due, isDone) = (entry.price, entry.due, entry.isDone)
      wgFileDbSecretId = String(identified.id)
    }

    var identified: IdentifiedEntry {
      get throws {
        guard let id = Int(wgFileDbSecretId) else { throw WrongResult("an id") }
        return IdentifiedEntry(
          id: id,
          entry: Entry(title: title, note: note, amount: amount, price: price, due: due, isDone: isDone))
      }
    }
  }

  private let sample: Sample
  private lazy var file = WholeFile(
    sample, scratch: "PropertyListEncoder",
    decode: { try PropertyListDecoder().decode(Table.self, from: $0).data.map { try $0.identified } },
    encode: { try PropertyListCoderPeer.encode($0) })

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .edit(_, .memory): 0
    case .edit, .sort: 100_000
    default: .max
    }
  }

  private static func encode(_ rows: [IdentifiedEntry]) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    let index = rows.enumerated().map { (String($1.id), String($0)) }
    return try encoder.encode(
      Table(
        autoincrement: String(rows.map(\.id).max() ?? 0), data: rows.map(Row.init),
        index: Dictionary(uniqueKeysWithValues: index)))
  }

  func prepare(_ workload: Workload) throws -> Run? {
    try file.prepare(workload)
  }

  func memoryOfOpening() throws -> ResidentMemory.Growth? {
    let data = sample.file
    return try ResidentMemory.growth {
      try PropertyListDecoder().decode(Table.self, from: Data(contentsOf: data))
    }
  }
}
