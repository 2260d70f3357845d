import FileDBPlist

/// What one version of a user's table says about an attached record; nothing if it does not have that record.
private struct OverlaySide {
  let record: EncodedRecord?
  let metadata: OverlayMetadata
  /// All fields of the record with the user's changes; empty if the user overrode none.
  let fields: PlistDictionary
  /// The overridden fields, by name. The value is an array with the user's value, or an empty array if the user removed
  /// the field.
  let overrides: PlistDictionary

  init(_ record: EncodedRecord?) {
    var fields = record?.fields.dictionary ?? PlistDictionary()
    OverlayMetadata.remove(from: &fields)
    let metadata = record.map(OverlayMetadata.init) ?? OverlayMetadata()
    var overrides = PlistDictionary()
    for name in metadata.overrides ?? [] { overrides[name] = .array(fields[name].map { [$0] } ?? []) }
    (self.record, self.metadata, self.fields, self.overrides) = (record, metadata, fields, overrides)
  }

  /// Whether a deletion would lose a change. Moving the record is not such a change, and neither is reverting one.
  func isChanged(since base: OverlaySide) -> Bool { !overrides.isEmpty && overrides != base.overrides }
}

/// The merge of what both sides say about one attached record. A field that neither side overrides belongs to the
/// attached table, and is left out here.
struct MergedOverlay {
  private let base: OverlaySide
  private let ours: OverlaySide
  private let theirs: OverlaySide

  init(base: EncodedRecord?, ours: EncodedRecord?, theirs: EncodedRecord?) {
    (self.base, self.ours, self.theirs) = (OverlaySide(base), OverlaySide(ours), OverlaySide(theirs))
  }

  var content: MergedContent {
    if ours.record == base.record || ours.record == theirs.record {
      return MergedContent(record: theirs.record)
    }
    if theirs.record == base.record { return MergedContent(record: ours.record) }
    switch (ours.metadata.isDeleted, theirs.metadata.isDeleted) {
    case (true, true): return MergedContent(record: ours.record)
    case (true, false) where !base.metadata.isDeleted:
      guard theirs.isChanged(since: base) else { return MergedContent(record: ours.record) }
      return MergedContent(
        record: theirs.record,
        conflicts: [.deletedByOurs(base: formerFields, theirs: Fields(theirs.fields))])
    case (false, true) where !base.metadata.isDeleted:
      guard ours.isChanged(since: base) else { return MergedContent(record: theirs.record) }
      return MergedContent(
        record: ours.record, conflicts: [.deletedByTheirs(base: formerFields, ours: Fields(ours.fields))])
    default: return undeleted
    }
  }

  private var formerFields: Fields { Fields(ConflictPlaceholder.former(base.fields)) }

  private var undeleted: MergedContent {
    let overrides = MergedFields(base: base.overrides, ours: ours.overrides, theirs: theirs.overrides)
    var metadata = OverlayMetadata()
    metadata.position =
      ours.metadata.position == base.metadata.position ? theirs.metadata.position : ours.metadata.position
    var fields = PlistDictionary()
    if !overrides.merged.isEmpty {
      metadata.overrides = overrides.merged.map(\.key)
      fields = self.fields(with: overrides.merged)
    }
    metadata.add(to: &fields)
    let id = metadata.isEmpty ? nil : ours.record?.id ?? theirs.record?.id
    return MergedContent(
      record: id.map { EncodedRecord(id: $0, fields: Fields(fields)) },
      conflicts: overrides.conflicts.map(conflict))
  }

  /// The fields of ours, or of theirs if ours overrides none, with the merged overrides.
  private func fields(with overrides: PlistDictionary) -> PlistDictionary {
    let (side, other) = ours.overrides.isEmpty ? (theirs, ours) : (ours, theirs)
    var fields = side.fields
    // This field is the attached table's again. The other side has its value.
    for name in side.overrides.map(\.key) where overrides[name] == nil && !other.overrides.isEmpty {
      fields[name] = other.fields[name]
    }
    for override in overrides { fields[override.key] = override.value.array?.first }
    return fields
  }

  /// Turns a conflict of two overrides into a conflict of the field's values.
  private func conflict(_ overrides: MergeConflict.Kind) -> MergeConflict.Kind {
    guard case .field(let name, _, _, _) = overrides else { return overrides }
    return .field(
      name, base: ConflictPlaceholder.former(base.fields[name]), ours: ours.fields[name],
      theirs: theirs.fields[name]
    )
  }
}
