import FileDB

/// The values that a field has, for choosing some of them.
struct ColumnValues {
  private let counts: [(value: PlistValue, count: Int)]
  private let isComplete: Bool

  /// So many records are looked at.
  private static let mostRecords = 100_000
  /// So many values are told apart.
  private static let mostValues = 200

  /// - Complexity: O(*n*) in the records, at most 100,000.
  init(of field: String, in snapshot: TableSnapshot<Fields>) {
    var counts: [PlistValue: Int] = [:]
    var isComplete = snapshot.count <= Self.mostRecords
    for record in snapshot.prefix(Self.mostRecords) {
      guard let value = record[field] else { continue }
      if counts[value] == nil, counts.count == Self.mostValues {
        isComplete = false
        continue
      }
      counts[value, default: 0] += 1
    }
    self.counts = counts.sorted { $0.value > $1.value }.map { ($0.key, $0.value) }
    self.isComplete = isComplete
  }

  var json: JSON {
    .object([
      (
        "values",
        .array(
          counts.map { .object([("value", JSON(inList: $0.value)), ("count", .number($0.count))]) })
      ),
      ("complete", .bool(isComplete)),
    ])
  }
}
