import FileDBPlist

/// The merge of two versions of a table's state; see ``TableMerge``.
package struct RecordsMerge: Sendable {
  package private(set) var merged: TableState
  package private(set) var conflicts: [MergeConflict] = []
  package private(set) var renumbered: [MergeRenumbering] = []
  /// The other keys in the root of the base.
  let baseKeys: PlistDictionary

  /// - Parameter side: if the two sides disagree, this side's version is used, so that there is no conflict; `nil` for
  ///   neither.
  /// - Throws: ``StoreError/Code/counterExhausted``.
  package init(
    base: TableState, ours: TableState, theirs: TableState, favoring side: MergeRenumbering.Side? = nil
  ) throws(StoreError) {
    baseKeys = base.foreignKeys
    let sides = MergeSides(base: base, ours: ours, theirs: theirs)
    let contents = sides.contents()
    let order = sides.order { contents[$0]?.record != nil }
    let numbers = try MergedIDs(sides, order: order, above: max(base.counter, ours.counter, theirs.counter))
    var records: [EncodedRecord] = []
    records.reserveCapacity(order.count)
    for key in order {
      guard let content = contents[key], let record = content.record, let id = numbers.ids[key] else {
        continue
      }
      records.append(record.renumbered(id))
      conflicts += content.conflicts.map { MergeConflict(record: id, kind: $0) }
      renumbered += sides.renumberings(of: key, to: id)
    }
    conflicts += sides.conflictsOfNone(contents)
    if let order = sides.orderConflict(numbers) { conflicts.append(MergeConflict(record: nil, kind: order)) }
    let (first, second) = side == .theirs ? (theirs, ours) : (ours, theirs)
    var root = MergedFields(base: base.foreignKeys, ours: first.foreignKeys, theirs: second.foreignKeys)
    if let schema = SchemaMerge(base: base, ours: first, theirs: second) { root.put(schema) }
    if side == nil { conflicts += root.conflicts.map { MergeConflict(record: nil, kind: $0) } }
    let counter = Self.counter(base: base.counter, ours: ours.counter, theirs: theirs.counter)
    merged = TableState(
      counter: max(counter, numbers.lastNew), records: records, foreignKeys: root.merged,
      shape: ours.records.shape)
    if let side { try settle(taking: side) }
    try addBrokenRules(ours, theirs)
  }

  /// Settles all conflicts with the version of one side.
  private mutating func settle(taking side: MergeRenumbering.Side) throws(StoreError) {
    for conflict in conflicts {
      switch (conflict.settlement(taking: side), conflict.record.flatMap(merged.record)) {
      case (.none, _), (.set, nil), (.delete, nil): break
      case (.order(let ids), _): try merged.apply(.reorder(merged.records.ids.ordered(as: ids)))
      case (.delete, let record?): try merged.apply(.remove([record.id]))
      case (.set(let name, let value), let record?):
        var fields = record.fields
        fields[name] = value
        try merged.apply(.replace(EncodedRecord(id: record.id, fields: fields)))
      }
    }
    conflicts = []
  }

  /// Adds the rules that the merged records break as conflicts. Each side may follow them, and the two together may
  /// not.
  private mutating func addBrokenRules(_ ours: TableState, _ theirs: TableState) throws(StoreError) {
    guard merged.schema.schema != nil else { return }
    // Other tables are unknown here, so every reference counts as valid.
    let isNamed = { (_: PlistValue, _: ReferenceRule) throws(StoreError) in true }
    let known = try [ours, theirs].map { side throws(StoreError) in
      try SchemaMisfits(of: side, isNamed: isNamed).all.map(\.record)
    }
    for misfit in try SchemaMisfits(of: merged, isNamed: isNamed).all {
      // If an editor left the record like this, the merge did not cause it.
      if known.contains(where: { $0.contains(misfit.record) }) { continue }
      let kind = MergeConflict.Kind.rule(field: misfit.error.field ?? "", message: misfit.error.message)
      conflicts.append(MergeConflict(record: misfit.record.id, kind: kind))
    }
  }

  /// The higher counter. If only one side changed it, that side's counter: a truncated table starts again.
  private static func counter(base: Int64, ours: Int64, theirs: Int64) -> Int64 {
    if ours == base { return theirs }
    return theirs == base ? ours : max(ours, theirs)
  }
}

/// Fields that are merged one by one.
struct MergedFields {
  private(set) var merged: PlistDictionary
  private(set) var conflicts: [MergeConflict.Kind] = []

  /// Replaces the schema by one that was merged separately.
  mutating func put(_ schema: SchemaMerge) {
    merged[TableFile.schemaKey] = schema.merged
    conflicts.removeAll { if case .field(TableFile.schemaKey, _, _, _) = $0 { true } else { false } }
    conflicts += schema.conflicts
  }

  init(base: PlistDictionary, ours: PlistDictionary, theirs: PlistDictionary) {
    merged = ours
    for conflict in Self.differences(base: base, ours: ours, theirs: theirs) {
      if case .field(let name, _, let ours, let theirs) = conflict, ours == base[name] {
        merged[name] = theirs
      } else {
        conflicts.append(conflict)
      }
    }
  }

  /// The changes of theirs that differ from ours.
  static func differences(
    base: PlistDictionary, ours: PlistDictionary, theirs: PlistDictionary
  ) -> [MergeConflict.Kind] {
    let names = base.map(\.key) + theirs.lazy.map(\.key).filter { base[$0] == nil }
    return names.filter { theirs[$0] != base[$0] && theirs[$0] != ours[$0] }
      .map { .field($0, base: ConflictPlaceholder.former(base[$0]), ours: ours[$0], theirs: theirs[$0]) }
  }
}

/// The merged content of one record.
struct MergedContent {
  /// With the id of the side that it comes from; `nil` if the record is deleted.
  let record: EncodedRecord?
  var conflicts: [MergeConflict.Kind] = []
}

extension MergedContent {
  /// Merges two versions that may be different records. The result is ours, and every change of theirs is a conflict.
  init(base: EncodedRecord, ours: EncodedRecord, doubtful theirs: EncodedRecord) {
    record = ours
    conflicts = MergedFields.differences(
      base: base.content, ours: ours.content, theirs: theirs.content)
  }

  init(base: EncodedRecord?, ours: EncodedRecord?, theirs: EncodedRecord?) {
    switch (base, ours, theirs) {
    case (nil, let added?, _), (nil, nil, let added?): record = added
    case (let base?, let ours?, nil) where !ours.hasSameContent(as: base):
      record = ours
      conflicts = [.deletedByTheirs(base: base.formerFields, ours: ours.fields)]
    case (let base?, nil, let theirs?) where !theirs.hasSameContent(as: base):
      record = theirs
      conflicts = [.deletedByOurs(base: base.formerFields, theirs: theirs.fields)]
    case (let base?, let ours?, let theirs?) where ours.hasSameFields(as: base): record = theirs
    case (let base?, let ours?, let theirs?) where theirs.hasSameFields(as: base): record = ours
    case (let base?, let ours?, let theirs?):
      let fields = MergedFields(
        base: base.fields.dictionary, ours: ours.fields.dictionary, theirs: theirs.fields.dictionary)
      record = EncodedRecord(id: ours.id, fields: Fields(fields.merged))
      // If both moved the record among attached ones, ours decides, as for other records.
      conflicts = fields.conflicts.filter { !Overlay.isOwn(ours.id) || !$0.isOfPosition }
    case (_, nil, _), (_, _, nil): record = nil
    }
  }
}

extension MergeConflict.Kind {
  fileprivate var isOfPosition: Bool {
    if case .field(OverlayMetadata.positionKey, _, _, _) = self { true } else { false }
  }
}

extension EncodedRecord {
  /// Whether another record has the same fields, perhaps with another id.
  func hasSameFields(as other: EncodedRecord) -> Bool {
    id == other.id ? hasSameBytes(as: other) : fields == other.fields
  }

  /// The fields of a record of the base, without placeholders.
  fileprivate var formerFields: Fields { Fields(ConflictPlaceholder.former(fields.dictionary)) }

  func renumbered(_ newID: AnyRecordID) -> EncodedRecord {
    newID == id ? self : EncodedRecord(id: newID, fields: fields)
  }
}
