import FileDBPlist

/// What stands in the base of a merge in place of a value about which its own sides disagree.
///
/// If two branches have merged each other, git merges their common versions into one, the base. No side has a mark. So
/// wherever the two settled a conflict differently, both have changed it, and it is a conflict again.
enum ConflictMark {
  private static let key = "filedb conflict"
  /// The key in the root of the file for the order of the records.
  static let orderKey = "filedb order"

  /// - Parameter former: the value before both changes.
  static func value(_ former: PlistValue?) -> PlistValue {
    .dict([key: .array(former.map { [$0] } ?? [])])
  }

  /// The value before both changes, if this is a mark; else the value itself.
  static func former(_ value: PlistValue?) -> PlistValue? {
    guard let fields = value?.dict, fields.count == 1, let former = fields[key]?.array else { return value }
    return former.first
  }

  static func former(_ fields: PlistDictionary) -> PlistDictionary {
    PlistDictionary(
      lastOf: fields.compactMap { field in
        former(field.value).map { .init(key: field.key, value: $0) }
      })
  }
}

extension RecordsMerge {
  /// The merged table as the base of another merge. What is in conflict is marked.
  package var asBase: TableState {
    var root = merged.foreignKeys
    func mark(_ key: String) { root[key] = ConflictMark.value(ConflictMark.former(baseKeys[key])) }
    var marked: [AnyRecordID: EncodedRecord] = [:]
    for conflict in conflicts {
      if let id = conflict.record {
        let record = marked[id] ?? merged.record(id) ?? .withoutChanges(to: id)
        marked[id] = record.marked(conflict.kind)
      } else if case .field(let name, _, _, _) = conflict.kind {
        mark(name)
        // A part of the schema, which is not a root key of its own.
        if name.hasPrefix("\(TableFile.schemaKey).") { mark(TableFile.schemaKey) }
      } else {
        mark(ConflictMark.orderKey)
      }
    }
    let records = merged.records.map { marked.removeValue(forKey: $0.id) ?? $0 }
    // These say something about attached records, so their order does not matter.
    let others = marked.values.sorted { $0.id < $1.id }
    return TableState(
      counter: merged.counter, records: records + others, foreignKeys: root, shape: merged.records.shape)
  }
}

extension EncodedRecord {
  /// A record of a store with an attached store, where the user has changed nothing in the attached record.
  fileprivate static func withoutChanges(to id: AnyRecordID) -> EncodedRecord {
    var marks = OverlayMarks()
    marks.overrides = []
    return EncodedRecord(id: id, marks: marks)
  }

  fileprivate func marked(_ conflict: MergeConflict.Kind) -> EncodedRecord {
    switch conflict {
    case .field(let name, let base, _, _): marked(name, former: base)
    case .deletedByOurs(let base, let changed), .deletedByTheirs(let base, let changed):
      MergedFields.differences(base: base.dictionary, ours: base.dictionary, theirs: changed.dictionary)
        .reduce(self) { $0.marked($1) }
    case .rule, .order: self
    }
  }

  private func marked(_ name: String, former: PlistValue?) -> EncodedRecord {
    var (marks, fields) = (OverlayMarks(of: self), fields.dictionary)
    fields[name] = ConflictMark.value(former)
    if !Overlay.isOwn(id), !marks.isEmpty {
      marks.overrides = (marks.overrides ?? []).filter { $0 != name } + [name]
      marks.add(to: &fields)
    }
    return EncodedRecord(id: id, fields: Fields(fields))
  }
}
