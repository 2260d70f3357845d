import FileDBPlist
import FileDBTables

extension PlistDictionary {
  /// These fields after a value changed from `old` to `new`. What the type knows comes from the value. What it does not
  /// know stays, at every depth. What did not change stays the same to the bit.
  func patched(from old: PlistDictionary, to new: PlistDictionary) -> PlistDictionary {
    var result = self
    var changed: [PlistDictionary.Entry] = []
    PlistDictionary.differences(old, new) { key, before, after in
      guard let after else {
        result[key] = nil
        return
      }
      let value = self[key]?.patched(from: before, to: after) ?? after
      changed.append(PlistDictionary.Entry(key: key, value: value))
    }
    result.set(changed)
    return result
  }
}

extension PlistValue {
  fileprivate func patched(from old: PlistValue?, to new: PlistValue) -> PlistValue {
    switch (self, old, new) {
    case (.dict(let stored), .dict(let before)?, .dict(let after)):
      .dict(stored.patched(from: before, to: after))
    case (.array(let stored), .array(let before)?, .array(let after)):
      .array(stored.patched(from: before, to: after))
    default: new
    }
  }

  /// Whether this and `other` are probably versions of one element, and not one element and another in its place: if
  /// they have the same `id`, or without ids, the same value in some field that is not a Boolean. If there is only one
  /// such field, nothing else could be the same.
  fileprivate func resembles(_ other: PlistValue) -> Bool {
    guard case .dict(let own) = self, case .dict(let other) = other else { return true }
    if let id = own["id"] ?? other["id"] { return own["id"] == id && other["id"] == id }
    let telling = own.filter { $0.value.bool == nil }
    return telling.count < 2 || telling.contains { other[$0.key] == $0.value }
  }

  /// Whether a type that read this could have written `written`, perhaps without parts that it does not know.
  fileprivate func holds(_ written: PlistValue) -> Bool {
    switch (self, written) {
    case (.dict(let stored), .dict(let written)):
      written.allSatisfy { entry in stored[entry.key].map { $0.holds(entry.value) } ?? false }
    case (.array(let stored), .array(let written)): stored.hold(written)
    case (.integer, .real), (.real, .integer), (.unsigned, .real), (.real, .unsigned):
      ValueOrder.compare(self, written) == 0
    default: self == written
    }
  }
}

extension [PlistValue] {
  /// An element that is unchanged, even if it moved, keeps what the type does not know. If the number of elements is
  /// the same, an element that resembles the one in its place counts as its changed version.
  fileprivate func patched(from before: [PlistValue], to after: [PlistValue]) -> [PlistValue] {
    // A set has another order each time. Then the elements are no longer those in the same places.
    guard hold(before) else { return after }
    var sources: [Int?] = after.indices.map { $0 < count && before[$0] == after[$0] ? $0 : nil }
    var free = Set(indices).subtracting(sources.compactMap(\.self))
    var places = Dictionary(grouping: free.sorted(by: >)) { before[$0] }
    for place in after.indices where sources[place] == nil {
      guard let source = places[after[place]]?.popLast() else { continue }
      sources[place] = source
      free.remove(source)
    }
    return after.indices.map { place in
      if let source = sources[place] { return self[source] }
      guard count == after.count, free.contains(place), before[place].resembles(after[place]) else {
        return after[place]
      }
      return self[place].patched(from: before[place], to: after[place])
    }
  }

  fileprivate func hold(_ written: [PlistValue]) -> Bool {
    count == written.count && zip(self, written).allSatisfy { $0.holds($1) }
  }
}
