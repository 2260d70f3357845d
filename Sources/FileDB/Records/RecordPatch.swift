import FileDBPlist

extension PlistDictionary {
  /// These fields after a typed row changed from `old` to `new`: what the row knows is taken from it, what it does not
  /// know stays, at every depth, and what it left as it was keeps its value to the bit.
  func patched(from old: PlistDictionary, to new: PlistDictionary) -> PlistDictionary {
    var result = self
    for entry in old where new[entry.key] == nil { result[entry.key] = nil }
    for entry in new where old[entry.key] != entry.value {
      if case .dict(let stored)? = self[entry.key], case .dict(let before)? = old[entry.key],
        case .dict(let after) = entry.value
      {
        result[entry.key] = .dict(stored.patched(from: before, to: after))
      } else {
        result[entry.key] = entry.value
      }
    }
    return result
  }
}
