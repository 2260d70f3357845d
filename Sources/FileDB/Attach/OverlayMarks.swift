import FileDBPlist

/// What a record in the user's file says about the attached record with its id, and about its own place, in fields that
/// readers do not see.
struct OverlayMarks: Equatable {
  enum Place: Equatable {
    case top
    case bottom
    /// Behind this record of the attached table, as that has it.
    case after(AnyRecordID)
  }

  /// The fields that are the user's, whether they are in the record or removed; all others are the attached record's.
  /// `nil` if all are.
  var overrides: [String]?
  /// `nil` for an attached record that stays where it is, and for any other one at the bottom.
  var place: Place?
  /// The user deleted the attached record.
  var isDeleted = false

  private static let overridesKey = "wgFileDbOverrides"
  static let placeKey = "wgFileDbAfter"
  private static let deletedKey = "wgFileDbDeleted"
  static let keys = [placeKey, deletedKey, overridesKey]

  init() {}

  /// What does not read as a mark, since somebody edited it, is none.
  init(of record: EncodedRecord) {
    let found = record.fields(Self.keys)
    guard !found.isEmpty else { return }
    place = found[Self.placeKey].flatMap(Place.init)
    isDeleted = found[Self.deletedKey] == .bool(true)
    overrides = found[Self.overridesKey]?.array?.compactMap(\.string)
  }

  var isEmpty: Bool { self == OverlayMarks() }

  func add(to fields: inout PlistDictionary) {
    if let overrides { fields[Self.overridesKey] = .array(overrides.map { .string($0) }) }
    if let place { fields[Self.placeKey] = .string(place.text) }
    if isDeleted { fields[Self.deletedKey] = .bool(true) }
  }

  static func remove(from fields: inout PlistDictionary) {
    for key in keys { fields.removeValue(forKey: key) }
  }
}

extension OverlayMarks.Place {
  fileprivate init?(_ value: PlistValue) {
    switch value.string {
    case nil: return nil
    case "top": self = .top
    case "bottom": self = .bottom
    case let text?:
      guard let id = AnyRecordID(text) else { return nil }
      self = .after(id)
    }
  }

  fileprivate var text: String {
    switch self {
    case .top: "top"
    case .bottom: "bottom"
    case .after(let id): id.description
    }
  }
}
