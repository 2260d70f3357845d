import FileDBPlist

/// What one version of a user's table says about an attached record; nothing if it has no record for that.
private struct OverlaySide {
  let record: EncodedRecord?
  let marks: OverlayMarks
  /// All fields of the record, with what the user put into them; empty if none is overridden.
  let fields: PlistDictionary
  /// By the names of the overridden fields: what the user put there, in an array; an empty one where the field was
  /// removed.
  let overrides: PlistDictionary

  init(_ record: EncodedRecord?) {
    var fields = record?.fields.dictionary ?? PlistDictionary()
    OverlayMarks.remove(from: &fields)
    let marks = record.map(OverlayMarks.init) ?? OverlayMarks()
    var overrides = PlistDictionary()
    for name in marks.overrides ?? [] { overrides[name] = .array(fields[name].map { [$0] } ?? []) }
    (self.record, self.marks, self.fields, self.overrides) = (record, marks, fields, overrides)
  }

  /// Whether it has something to lose by a deletion. Who moved the record has not, nor who took back what had been
  /// changed.
  func isChanged(since base: OverlaySide) -> Bool { !overrides.isEmpty && overrides != base.overrides }
}

/// What the sides say about one attached record, together. A field that neither overrides is not a field here: it is
/// the attached table's.
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
    switch (ours.marks.isDeleted, theirs.marks.isDeleted) {
    case (true, true): return MergedContent(record: ours.record)
    case (true, false) where !base.marks.isDeleted:
      guard theirs.isChanged(since: base) else { return MergedContent(record: ours.record) }
      let conflict = MergeConflict.Kind.deletedByOurs(
        base: Fields(base.fields), theirs: Fields(theirs.fields))
      return MergedContent(record: theirs.record, conflicts: [conflict])
    case (false, true) where !base.marks.isDeleted:
      guard ours.isChanged(since: base) else { return MergedContent(record: theirs.record) }
      let conflict = MergeConflict.Kind.deletedByTheirs(base: Fields(base.fields), ours: Fields(ours.fields))
      return MergedContent(record: ours.record, conflicts: [conflict])
    default: return undeleted
    }
  }

  private var undeleted: MergedContent {
    let overrides = MergedFields(base: base.overrides, ours: ours.overrides, theirs: theirs.overrides)
    var marks = OverlayMarks()
    marks.place = ours.marks.place == base.marks.place ? theirs.marks.place : ours.marks.place
    var fields = PlistDictionary()
    if !overrides.merged.isEmpty {
      marks.overrides = overrides.merged.map(\.key)
      fields = self.fields(with: overrides.merged)
    }
    marks.add(to: &fields)
    let id = marks.isEmpty ? nil : ours.record?.id ?? theirs.record?.id
    return MergedContent(
      record: id.map { EncodedRecord(id: $0, fields: Fields(fields)) },
      conflicts: overrides.conflicts.map(conflict))
  }

  /// All fields as ours has them, or theirs where ours overrides none, with the merged overrides.
  private func fields(with overrides: PlistDictionary) -> PlistDictionary {
    let (side, other) = ours.overrides.isEmpty ? (theirs, ours) : (ours, theirs)
    var fields = side.fields
    // What is the attached table's again: the other side has that.
    for name in side.overrides.map(\.key) where overrides[name] == nil && !other.overrides.isEmpty {
      fields[name] = other.fields[name]
    }
    for override in overrides { fields[override.key] = override.value.array?.first }
    return fields
  }

  /// The conflict of two overrides, as one of what the field holds.
  private func conflict(_ overrides: MergeConflict.Kind) -> MergeConflict.Kind {
    guard case .field(let name, _, _, _) = overrides else { return overrides }
    return .field(name, base: base.fields[name], ours: ours.fields[name], theirs: theirs.fields[name])
  }
}
