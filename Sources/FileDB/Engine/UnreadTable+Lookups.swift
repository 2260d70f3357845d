import FileDBPlist
import FileDBTables

/// A lookup for a table that stays in its file.
enum UnreadLookup {
  /// It was in a file already.
  case kept(LookupFile)
  /// It was made by reading all records.
  case made(RecordLookup)
}

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
      switch lookups[name] {
      case .made(let lookup): return lookup.indices(of: hash)
      case .kept(let file): if let indices = file.indices(of: hash) { return indices }
      case nil:
        if let file = folder.lookup(of: table, by: names, for: known), let indices = file.indices(of: hash) {
          lookups[name] = .kept(file)
          return indices
        }
      }
      // There is no lookup, or it is damaged.
      let lookup = makeLookup(by: names)
      lookups[name] = .made(lookup)
      return lookup.indices(of: hash)
    }
  }

  /// Reads all records to make a lookup, and keeps it for the next program.
  private func makeLookup(by names: [String]) -> RecordLookup {
    var draft = LookupDraft(by: names)
    for number in 0..<(count + chunkLength - 1) / chunkLength {
      for record in records(ofChunk: number) { draft.add(record) }
    }
    let lookup = RecordLookup(draft)
    folder.writeLookup(lookup, of: table, for: known)
    return lookup
  }
}
