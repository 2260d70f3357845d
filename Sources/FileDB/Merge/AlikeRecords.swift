import FileDBPlist

/// Finds out whether any record is similar to a given one: more than half of its fields are the same.
struct AlikeRecords {
  /// If more records than this have a value, it does not help to find a similar one.
  private static let commonest = 100

  private let records: [PlistDictionary]
  private var places: [PlistDictionary: [Int]] = [:]

  init(_ records: [EncodedRecord]) {
    self.records = records.map(\.content)
    for (place, fields) in self.records.enumerated() {
      for field in fields { places[PlistDictionary(single: field), default: []].append(place) }
    }
  }

  func contains(alike former: PlistDictionary) -> Bool {
    former.contains { field in
      guard let places = places[PlistDictionary(single: field)], places.count <= Self.commonest else {
        return false
      }
      return places.contains { Self.isAlike(records[$0], former) }
    }
  }

  static func isAlike(_ now: PlistDictionary, _ former: PlistDictionary) -> Bool {
    former.isEmpty || former.count { now[$0.key] == $0.value } * 2 > former.count
  }
}

extension PlistDictionary {
  /// One field with its value, to look it up by its bytes.
  init(single field: Entry) {
    self.init()
    self[field.key] = field.value
  }

  /// The fields that have the same value in both.
  func common(with other: PlistDictionary) -> PlistDictionary {
    PlistDictionary(lastOf: filter { other[$0.key] == $0.value })
  }
}

extension TableState {
  /// The records that both tables have, in the order of this one, each with its version in the other.
  func shared(with other: TableState) -> [(EncodedRecord, EncodedRecord)] {
    records.compactMap { record in other.record(record.id).map { (record, $0) } }
  }
}
