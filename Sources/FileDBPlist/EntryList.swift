import CFileDB

/// The entries of a dictionary in canonical bytes, each of which can be read again. One list serves for one dictionary
/// after another, and keeps its memory.
package struct EntryList: ~Copyable {
  private var entries: UnsafeMutablePointer<filedb_entry>
  private var capacity = 16
  package private(set) var count = 0

  package init() { entries = .allocate(capacity: capacity) }

  deinit { entries.deallocate() }

  /// Takes the entries of another dictionary.
  package mutating func fill(from reader: CanonicalReader, _ dict: CanonicalElement) {
    count = 0
    let bytes = reader.bytes
    let tabs = bytes.indentation(at: dict.content.lowerBound)
    var position = dict.content.lowerBound
    while position < dict.content.upperBound {
      if count == capacity { grow() }
      let last = count
      count += filedb_split(
        bytes.start, dict.content.upperBound, &position, tabs, entries + count, capacity - count)
      if last == count { position = passRareEntry(at: position, tabs, bytes) }
    }
  }

  package mutating func remove(_ key: StaticString, from reader: CanonicalReader) {
    guard let place = (0..<count).last(where: { reader.bytes.holds(key, in: self.key($0)) }) else { return }
    (entries + place).update(from: entries + place + 1, count: count - place - 1)
    count -= 1
  }

  package func key(_ place: Int) -> Range<Int> { entries[place].key..<entries[place].end_of_key }

  package func element(_ place: Int) -> CanonicalElement {
    let entry = entries[place]
    guard let kind = CanonicalElement.Kind(rawValue: entry.kind) else {
      preconditionFailure("there is no such kind")
    }
    return CanonicalElement(kind: kind, content: entry.content..<entry.end_of_content)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<filedb_entry>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: entries, count: count)
    entries.deallocate()
    (entries, capacity) = (larger, 2 * capacity)
  }

  /// Takes an entry whose value is not a scalar.
  /// - Returns: where the next line begins.
  private mutating func passRareEntry(at line: Int, _ tabs: Int, _ bytes: CanonicalBytes) -> Int {
    let key = line + tabs + 5
    let endOfKey = bytes.first(UInt8(ascii: "<"), from: key, to: bytes.count)
    guard let (element, end) = bytes.element(at: endOfKey + 7 + tabs, indentation: tabs) else {
      preconditionFailure("the bytes are not canonical")
    }
    entries[count] = filedb_entry(
      key: key, end_of_key: endOfKey, content: element.content.lowerBound,
      end_of_content: element.content.upperBound, kind: element.kind.rawValue)
    count += 1
    return end
  }
}
