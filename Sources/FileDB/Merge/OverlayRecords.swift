import FileDBPlist

extension Set<AnyRecordID> {
  /// The ids of the records that only say something about attached records (see ``OverlayMetadata``), in versions of a
  /// table that lies over an attached one. Only records that a side added or changed. For other records, nothing needs
  /// to be found out.
  init(ofOverlayRecordsIn base: TableState, sides: [TableState]) {
    let changed = sides.flatMap { side in
      side.records.lazy.filter { record in
        !Overlay.isOwn(record.id) && base.record(record.id)?.hasSameBytes(as: record) != true
      }.map(\.id)
    }
    // If a record has no metadata in one version, it is an ordinary record there, and so in all versions.
    self = Set(changed).filter { id in
      ([base] + sides).compactMap { $0.record(id) }.allSatisfy { !OverlayMetadata(of: $0).isEmpty }
    }
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
