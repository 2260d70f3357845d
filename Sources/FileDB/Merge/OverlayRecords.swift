import FileDBPlist

/// The records, in versions of a table that lies over an attached one, which are not records of their own, but what the
/// user said about attached ones (see ``OverlayMarks``).
struct OverlayRecords {
  private let ids: Set<AnyRecordID>

  /// Those that a side added or changed. Of any other one there is nothing to find out.
  init(base: TableState, sides: [TableState]) {
    let changed = sides.reduce(into: Set()) { ids, side in
      ids.formUnion(side.attachedIDs(otherwiseIn: base))
    }
    // One without marks in any of them is a record there, and so in all.
    ids = changed.filter { id in
      ([base] + sides).compactMap { $0.record(id) }.allSatisfy { !OverlayMarks(of: $0).isEmpty }
    }
  }

  func contains(_ id: AnyRecordID) -> Bool { ids.contains(id) }

  /// Whether a mark says where the record is among the attached ones. Elsewhere that is a field like others.
  func hasPlace(_ id: AnyRecordID) -> Bool { Overlay.isOwn(id) || contains(id) }
}

extension TableState {
  /// The ids of records, none of the user's own, that the other table has not or has otherwise.
  fileprivate func attachedIDs(otherwiseIn other: TableState) -> [AnyRecordID] {
    records.lazy.filter { record in
      !Overlay.isOwn(record.id) && other.record(record.id)?.hasSameBytes(as: record) != true
    }.map(\.id)
  }
}

extension EncodedRecord {
  /// The fields without the place of a user's own record among attached ones: where a record is belongs to its contents
  /// no more than its index does.
  var content: PlistDictionary {
    var fields = fields.dictionary
    if Overlay.isOwn(id) { fields.removeValue(forKey: OverlayMarks.placeKey) }
    return fields
  }

  /// Whether another record, perhaps with another id or in another place, has the same contents.
  func hasSameContent(as other: EncodedRecord) -> Bool {
    hasSameFields(as: other) || (Overlay.isOwn(id) && content == other.content)
  }
}
