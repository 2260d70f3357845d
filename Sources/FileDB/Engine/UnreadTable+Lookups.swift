import FileDBPlist
import FileDBTables

extension UnreadTable {
  func ids(where names: [String], are values: [PlistValue], atMost limit: Int) -> [AnyRecordID] {
    let indices = indices(of: ValueHash(values), in: names)
    // If there are records, reading them checks this.
    if indices.isEmpty { checkUnchanged() }
    let found = indices.lazy.compactMap { [self] index in
      let record = records(ofChunk: index / chunkLength)[index % chunkLength]
      let fields = record.fields(names)
      return zip(names, values).allSatisfy { fields[$0] == $1 } ? record.id : nil
    }
    return Array(found.prefix(limit))
  }

  /// The records that may have these values.
  private func indices(of hash: ValueHash, in names: [String]) -> [Int] {
    lookups.withLock { lookups in
      let name = names.map { Array($0.utf8) }
      if let lookup = lookups[name] ?? folder.lookup(of: table, by: names, for: known),
        let indices = lookup.indices(of: hash)
      {
        lookups[name] = lookup
        return indices
      }
      // There is no lookup, or it is damaged.
      let lookup = makeLookup(by: names)
      lookups[name] = lookup
      guard let indices = lookup?.indices(of: hash) else {
        preconditionFailure("a lookup in memory is sound")
      }
      return indices
    }
  }

  /// Reads all records to make a lookup, and keeps it for the next program.
  private func makeLookup(by names: [String]) -> RecordLookup? {
    var draft = LookupDraft(by: names)
    for number in 0..<(count + chunkLength - 1) / chunkLength {
      for record in records(ofChunk: number) { draft.add(record) }
    }
    let bytes = draft.bytes(for: known)
    folder.writeLookup(bytes, of: table, by: names, for: known)
    return RecordLookup(bytes, by: names, for: known)
  }
}
