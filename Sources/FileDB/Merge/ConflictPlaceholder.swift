import FileDBPlist

/// What stands in the base of a merge in place of a value about which its own sides disagree.
///
/// If two branches have merged each other, git merges their common versions into one, the base. No side has a
/// placeholder. So wherever the two settled a conflict differently, both have changed it, and it is a conflict again.
enum ConflictPlaceholder {
  private static let key = "filedb conflict"
  /// The key in the root of the file for the order of the records.
  static let orderKey = "filedb order"

  /// - Parameter former: the value before both changes.
  static func value(_ former: PlistValue?) -> PlistValue {
    .dict([key: .array(former.map { [$0] } ?? [])])
  }

  /// The value before both changes, if this is a placeholder; else the value itself.
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
  /// The merged table as the base of another merge. A placeholder replaces what is in conflict.
  package var asBase: TableState {
    var root = merged.foreignKeys
    func replace(_ key: String) {
      root[key] = ConflictPlaceholder.value(ConflictPlaceholder.former(baseKeys[key]))
    }
    var replaced: [AnyRecordID: EncodedRecord] = [:]
    for conflict in conflicts {
      if let id = conflict.record {
        let record = replaced[id] ?? merged.record(id) ?? .withoutChanges(to: id)
        replaced[id] = record.withPlaceholder(for: conflict.kind)
      } else if case .field(let name, _, _, _) = conflict.kind {
        replace(name)
        // A part of the schema, which is not a root key of its own.
        if name.hasPrefix("\(TableFile.schemaKey).") { replace(TableFile.schemaKey) }
      } else {
        replace(ConflictPlaceholder.orderKey)
      }
    }
    let records = merged.records.map { replaced.removeValue(forKey: $0.id) ?? $0 }
    // These say something about attached records, so their order does not matter.
    let others = replaced.values.sorted { $0.id < $1.id }
    return TableState(
      counter: merged.counter, records: records + others, foreignKeys: root, shape: merged.records.shape)
  }
}

extension EncodedRecord {
  /// A record of a store with an attached store, where the user has changed nothing in the attached record.
  fileprivate static func withoutChanges(to id: AnyRecordID) -> EncodedRecord {
    var metadata = OverlayMetadata()
    metadata.overrides = []
    return EncodedRecord(id: id, metadata: metadata)
  }

  fileprivate func withPlaceholder(for conflict: MergeConflict.Kind) -> EncodedRecord {
    switch conflict {
    case .field(let name, let base, _, _): withPlaceholder(inField: name, former: base)
    case .deletedByOurs(let base, let changed), .deletedByTheirs(let base, let changed):
      MergedFields.differences(base: base.dictionary, ours: base.dictionary, theirs: changed.dictionary)
        .reduce(self) { $0.withPlaceholder(for: $1) }
    case .rule, .order: self
    }
  }

  private func withPlaceholder(inField name: String, former: PlistValue?) -> EncodedRecord {
    var (metadata, fields) = (OverlayMetadata(of: self), fields.dictionary)
    fields[name] = ConflictPlaceholder.value(former)
    if !Overlay.isOwn(id), !metadata.isEmpty {
      metadata.overrides = (metadata.overrides ?? []).filter { $0 != name } + [name]
      metadata.add(to: &fields)
    }
    return EncodedRecord(id: id, fields: Fields(fields))
  }
}
