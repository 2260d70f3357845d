import FileDBPlist

/// Finds out whether some record is like another one: with more than half of its fields as they are there.
struct AlikeRecords {
  /// A value that more records have tells none of them from the others.
  private static let commonest = 100

  private let records: [PlistDictionary]
  private var places: [PlistDictionary: [Int]] = [:]

  init(_ records: [EncodedRecord]) {
    self.records = records.map(\.content)
    for (place, fields) in self.records.enumerated() {
      for field in fields { places[Self.single(field), default: []].append(place) }
    }
  }

  func contains(alike former: PlistDictionary) -> Bool {
    former.contains { field in
      guard let places = places[Self.single(field)], places.count <= Self.commonest else { return false }
      return places.contains { Self.isAlike(records[$0], former) }
    }
  }

  static func isAlike(_ now: PlistDictionary, _ former: PlistDictionary) -> Bool {
    former.isEmpty || former.count { now[$0.key] == $0.value } * 2 > former.count
  }

  private static func single(_ field: PlistDictionary.Entry) -> PlistDictionary {
    var dictionary = PlistDictionary()
    dictionary[field.key] = field.value
    return dictionary
  }
}
