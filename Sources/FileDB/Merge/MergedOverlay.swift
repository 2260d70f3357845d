import FileDBPlist

/// What one version of a user's table says about an attached record; nothing where it has no record for that.
private struct OverlaySide {
  let stored: StoredRecord?
  let marks: OverlayMarks
  /// The whole record with the user's values in it; empty where none is overridden.
  let fields: PlistDictionary
  /// By the names of the overridden fields: the user's value in an array, an empty array where the field was removed.
  let overrides: PlistDictionary

  init(_ stored: StoredRecord?) {
    var fields = stored?.record.fields ?? PlistDictionary()
    OverlayMarks.remove(from: &fields)
    let marks = stored.map(OverlayMarks.init) ?? OverlayMarks()
    var overrides = PlistDictionary()
    for name in marks.overrides ?? [] { overrides[name] = .array(fields[name].map { [$0] } ?? []) }
    (self.stored, self.marks, self.fields, self.overrides) = (stored, marks, fields, overrides)
  }

  var record: Record { Record(fields: fields) }

  /// Whether it has something to lose by a deletion. Who moved the record has not, nor who took back what had been changed.
  func isChanged(since base: OverlaySide) -> Bool { !overrides.isEmpty && overrides != base.overrides }
}

/// What the sides say about one attached record, together. A field that neither overrides is no field here: it is the
/// attached table's.
struct MergedOverlay {
  private let base: OverlaySide
  private let ours: OverlaySide
  private let theirs: OverlaySide

  init(base: StoredRecord?, ours: StoredRecord?, theirs: StoredRecord?) {
    (self.base, self.ours, self.theirs) = (OverlaySide(base), OverlaySide(ours), OverlaySide(theirs))
  }

  var content: MergedContent {
    if ours.stored == base.stored || ours.stored == theirs.stored {
      return MergedContent(record: theirs.stored)
    }
    if theirs.stored == base.stored { return MergedContent(record: ours.stored) }
    switch (ours.marks.isDeleted, theirs.marks.isDeleted) {
    case (true, true): return MergedContent(record: ours.stored)
    case (true, false) where !base.marks.isDeleted:
      guard theirs.isChanged(since: base) else { return MergedContent(record: ours.stored) }
      let conflict = MergeConflict.Kind.deletedByOurs(base: base.record, theirs: theirs.record)
      return MergedContent(record: theirs.stored, conflicts: [conflict])
    case (false, true) where !base.marks.isDeleted:
      guard ours.isChanged(since: base) else { return MergedContent(record: theirs.stored) }
      let conflict = MergeConflict.Kind.deletedByTheirs(base: base.record, ours: ours.record)
      return MergedContent(record: ours.stored, conflicts: [conflict])
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
    let id = marks.isEmpty ? nil : ours.stored?.id ?? theirs.stored?.id
    return MergedContent(
      record: id.map { StoredRecord(id: $0, record: Record(fields: fields)) },
      conflicts: overrides.conflicts.map(conflict))
  }

  /// All fields as ours has them, or theirs where ours overrides none, with the merged values.
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

  /// The conflict of two overrides, with the field's values.
  private func conflict(_ overrides: MergeConflict.Kind) -> MergeConflict.Kind {
    guard case .field(let name, _, _, _) = overrides else { return overrides }
    return .field(name, base: base.fields[name], ours: ours.fields[name], theirs: theirs.fields[name])
  }
}
