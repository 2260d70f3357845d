import FileDBPlist

extension PlistDictionary {
  /// These fields after a typed row changed from `old` to `new`: what the row knows is taken from it, what it does not
  /// know stays, at every depth, and what it left as it was keeps its value to the bit.
  func patched(from old: PlistDictionary, to new: PlistDictionary) -> PlistDictionary {
    var result = self
    for entry in old where new[entry.key] == nil { result[entry.key] = nil }
    for entry in new where old[entry.key] != entry.value {
      result[entry.key] = self[entry.key]?.patched(from: old[entry.key], to: entry.value) ?? entry.value
    }
    return result
  }
}

extension PlistValue {
  /// Elements of an array are matched by their place, where there are as many as before; else the new array is taken whole.
  fileprivate func patched(from old: PlistValue?, to new: PlistValue) -> PlistValue {
    switch (self, old, new) {
    case (.dict(let stored), .dict(let before)?, .dict(let after)):
      return .dict(stored.patched(from: before, to: after))
    case (.array(let stored), .array(let before)?, .array(let after))
    where stored.count == before.count && before.count == after.count:
      return .array(
        after.indices.map {
          before[$0] == after[$0] ? stored[$0] : stored[$0].patched(from: before[$0], to: after[$0])
        })
    default: return new
    }
  }
}
