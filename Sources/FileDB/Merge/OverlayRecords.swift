import FileDBPlist

/// The ids of the records that only say something about attached records (see ``OverlayMetadata``). They come from
/// versions of a table that lies over an attached one.
struct OverlayRecords {
  private let ids: Set<AnyRecordID>

  /// Only records that a side added or changed. For other records, nothing needs to be found out.
  init(base: TableState, sides: [TableState]) {
    let changed = sides.reduce(into: Set()) { ids, side in
      ids.formUnion(side.attachedIDs(otherwiseIn: base))
    }
    // If a record has no metadata in one version, it is an ordinary record there, and so in all versions.
    ids = changed.filter { id in
      ([base] + sides).compactMap { $0.record(id) }.allSatisfy { !OverlayMetadata(of: $0).isEmpty }
    }
  }

  func contains(_ id: AnyRecordID) -> Bool { ids.contains(id) }

  /// Whether a record's field for the position is metadata. In other records, it is an ordinary field.
  func hasPosition(_ id: AnyRecordID) -> Bool { Overlay.isOwn(id) || contains(id) }
}

extension TableState {
  /// The ids below the user's own whose records are missing or different in the other table.
  fileprivate func attachedIDs(otherwiseIn other: TableState) -> [AnyRecordID] {
    records.lazy.filter { record in
      !Overlay.isOwn(record.id) && other.record(record.id)?.hasSameBytes(as: record) != true
    }.map(\.id)
  }
}

extension EncodedRecord {
  /// The fields without the position of a user's own record. The position does not belong to the content, just
  /// as the index does not.
  var content: PlistDictionary {
    var fields = fields.dictionary
    if Overlay.isOwn(id) { fields.removeValue(forKey: OverlayMetadata.positionKey) }
    return fields
  }

  /// Whether another record has the same content, perhaps with another id or in another place.
  func hasSameContent(as other: EncodedRecord) -> Bool {
    hasSameFields(as: other) || (Overlay.isOwn(id) && content == other.content)
  }
}
