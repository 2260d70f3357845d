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
      count += filedb_split_entries(
        bytes.start, dict.content.upperBound, &position, tabs, entries + count, capacity - count)
      precondition(count > last, "the bytes are not canonical")
    }
  }

  package mutating func remove(_ key: StaticString, from reader: CanonicalReader) {
    guard let place = (0..<count).last(where: { reader.bytes.holds(key, in: self.key($0)) }) else { return }
    (entries + place).update(from: entries + place + 1, count: count - place - 1)
    count -= 1
  }

  package func key(_ place: Int) -> Range<Int> { entries[place].key..<entries[place].end_of_key }

  package func element(_ place: Int) -> CanonicalElement {
    CanonicalElement(entries[place].value)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<filedb_entry>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: entries, count: count)
    entries.deallocate()
    (entries, capacity) = (larger, 2 * capacity)
  }
}
