/// Values by key. The keys have the order of their UTF-8 bytes, as in the file.
///
/// Keys are compared by their bytes: `é` and `e` with a combining accent are two keys.
/// - Complexity: O(log *n*) to find a value, O(*n*) to change one, in the number of keys.
public struct PlistDictionary: Sendable, Equatable {
  /// A key and its value.
  public struct Entry: Sendable {
    /// The key.
    public let key: String
    /// The value.
    public var value: PlistValue

    /// An entry with this key and value.
    public init(key: String, value: PlistValue) {
      self.key = key
      self.value = value
    }
  }

  private var entries: [Entry] = []

  /// A dictionary without keys.
  public init() {}

  /// - Parameter ascending: entries sorted by their keys, without duplicates.
  init(ascending: [Entry]) { entries = ascending }

  /// If there are several entries with the same key, the last one counts.
  package init(lastOf entries: [Entry]) { set(entries) }

  /// - Returns: `nil` if a key occurs twice; then `duplicate` is called with its index.
  /// - Complexity: O(*n*) if the keys are in order, otherwise O(*n* log *n*).
  package init?(unsorted: [Entry], duplicate: (Int) -> Void) {
    let inOrder = zip(unsorted, unsorted.dropFirst()).allSatisfy { compareUTF8($0.key, $1.key) < 0 }
    if inOrder {
      entries = unsorted
      return
    }
    let order = unsorted.indices.sorted {
      let order = compareUTF8(unsorted[$0].key, unsorted[$1].key)
      return order < 0 || (order == 0 && $0 < $1)
    }
    for (first, second) in zip(order, order.dropFirst())
    where compareUTF8(unsorted[first].key, unsorted[second].key) == 0 {
      duplicate(second)
      return nil
    }
    entries = order.map { unsorted[$0] }
  }

  /// The value for a key; `nil` if the key is missing. Setting `nil` removes the key.
  /// - Complexity: O(log *n*) to get a value or to replace one, O(*n*) to add or remove a key.
  public subscript(key: String) -> PlistValue? {
    get {
      let (position, found) = position(of: key)
      return found ? entries[position].value : nil
    }
    set {
      let (position, found) = position(of: key)
      switch (newValue, found) {
      case (let value?, true): entries[position].value = value
      case (let value?, false): entries.insert(Entry(key: key, value: value), at: position)
      case (nil, true): entries.remove(at: position)
      case (nil, false): break
      }
    }
  }

  /// The keys, in order.
  /// - Complexity: O(*n*).
  public var keys: [String] { entries.map(\.key) }

  /// Removes a key and its value, and returns the value.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> PlistValue? {
    let (position, found) = position(of: key)
    return found ? entries.remove(at: position).value : nil
  }

  /// Sets the values of many keys at once. If there are several entries with the same key, the last one counts.
  /// - Complexity: O(*n* + *m* log *m*) for *m* entries.
  package mutating func set(_ new: [Entry]) {
    if new.count < 8 {
      for entry in new { self[entry.key] = entry.value }
      return
    }
    let order = new.indices.sorted {
      let order = compareUTF8(new[$0].key, new[$1].key)
      return order < 0 || (order == 0 && $0 < $1)
    }
    var (merged, rest) = ([Entry](), entries[...])
    merged.reserveCapacity(entries.count + new.count)
    for (place, index) in order.enumerated() {
      let entry = new[index]
      if place + 1 < order.count, compareUTF8(new[order[place + 1]].key, entry.key) == 0 { continue }
      let smaller = rest.prefix { compareUTF8($0.key, entry.key) < 0 }
      merged += smaller
      rest = rest[smaller.endIndex...]
      if let first = rest.first, compareUTF8(first.key, entry.key) == 0 { rest.removeFirst() }
      merged.append(entry)
    }
    entries = merged + rest
  }

  package func mapValues<Failure>(
    _ transform: (_ key: String, PlistValue) throws(Failure) -> PlistValue
  ) throws(Failure) -> PlistDictionary {
    var result = self
    for position in entries.indices {
      result.entries[position].value = try transform(entries[position].key, entries[position].value)
    }
    return result
  }

  /// Finds the keys whose values differ, in order.
  /// - Parameter body: called with the key and its two values; `nil` for a key that one of the dictionaries lacks.
  /// - Complexity: O(*n*).
  package static func differences(
    _ left: PlistDictionary, _ right: PlistDictionary,
    _ body: (_ key: String, _ left: PlistValue?, _ right: PlistValue?) -> Void
  ) {
    var (lefts, rights) = (left.entries[...], right.entries[...])
    while let left = lefts.first, let right = rights.first {
      let order = compareUTF8(left.key, right.key)
      if order <= 0 { lefts.removeFirst() }
      if order >= 0 { rights.removeFirst() }
      if order < 0 {
        body(left.key, left.value, nil)
      } else if order > 0 {
        body(right.key, nil, right.value)
      } else if left.value != right.value {
        body(left.key, left.value, right.value)
      }
    }
    for entry in lefts { body(entry.key, entry.value, nil) }
    for entry in rights { body(entry.key, nil, entry.value) }
  }

  private func position(of key: String) -> (Int, found: Bool) {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      let order = compareUTF8(entries[middle].key, key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }

  public static func == (left: PlistDictionary, right: PlistDictionary) -> Bool {
    left.count == right.count
      && zip(left, right).allSatisfy { compareUTF8($0.key, $1.key) == 0 && $0.value == $1.value }
  }
}

extension PlistDictionary: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { entries.count }
  public subscript(position: Int) -> Entry { entries[position] }
}

extension PlistDictionary: ExpressibleByDictionaryLiteral {
  /// A dictionary with these keys and values. If a key is given twice, the last value is kept.
  public init(dictionaryLiteral elements: (String, PlistValue)...) {
    set(elements.map { Entry(key: $0, value: $1) })
  }
}
