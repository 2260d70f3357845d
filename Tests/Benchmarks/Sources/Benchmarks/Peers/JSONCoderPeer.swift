import Foundation

/// The rows as one JSON file, as many an app keeps them: read once, kept in memory, and replaced as a whole for each
/// commit. Its rows in memory are a plain array.
final class JSONCoderPeer: Peer {
  static let name = "JSONDecoder/Encoder"

  private let sample: Sample
  private lazy var file = WholeFile(
    sample, scratch: "JSONEncoder",
    decode: { try JSONDecoder().decode([IdentifiedEntry].self, from: $0) },
    encode: { try JSONEncoder().encode($0) })

  init(_ sample: Sample) { self.sample = sample }

  static func mostRecords(for workload: Workload) -> Int {
    switch workload {
    case .edit, .sort: 100_000
    default: .max
    }
  }

  func prepare(_ workload: Workload) throws -> Run? { try file.prepare(workload) }

  func makeFileToOpen() throws { try file.makeOnce() }

  func memoryOfOpening() throws -> ResidentMemory.Growth? {
    try ResidentMemory.growth { try file.read() }
  }
}
