import FileDBPlist

/// What a record in the user's file says about its own position and about the attached record with its id, in fields
/// that readers do not see.
struct OverlayMetadata: Equatable {
  enum Position: Equatable {
    case top
    case bottom
    /// After this record of the attached table, in the attached order.
    case after(AnyRecordID)
  }

  /// The names of the fields that the user set or removed. All other fields come from the attached record. `nil` if all
  /// fields are the user's.
  var overrides: [String]?
  /// `nil` for an attached record that keeps its place, and for any other record at the bottom.
  var position: Position?
  /// The user deleted the attached record.
  var isDeleted = false

  private static let overridesKey = "wgFileDbOverrides"
  static let positionKey = "wgFileDbAfter"
  private static let deletedKey = "wgFileDbDeleted"
  static let keys = [positionKey, deletedKey, overridesKey]

  init() {}

  /// A value that somebody edited so that it cannot be read is ignored.
  init(of record: EncodedRecord) {
    let found = record.fields(Self.keys)
    guard !found.isEmpty else { return }
    position = found[Self.positionKey].flatMap(Position.init)
    isDeleted = found[Self.deletedKey] == .bool(true)
    overrides = found[Self.overridesKey]?.array?.compactMap(\.string)
  }

  var isEmpty: Bool { self == OverlayMetadata() }

  func add(to fields: inout PlistDictionary) {
    if let overrides { fields[Self.overridesKey] = .array(overrides.map { .string($0) }) }
    if let position { fields[Self.positionKey] = .string(position.text) }
    if isDeleted { fields[Self.deletedKey] = .bool(true) }
  }

  static func remove(from fields: inout PlistDictionary) {
    for key in keys { fields.removeValue(forKey: key) }
  }
}

extension EncodedRecord {
  /// A record with nothing but metadata.
  init(id: AnyRecordID, metadata: OverlayMetadata) {
    var fields = PlistDictionary()
    metadata.add(to: &fields)
    self.init(id: id, fields: Fields(fields))
  }
}

extension OverlayMetadata.Position {
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
