/// The records of a table in order. It also finds the index of a record by its id.
///
/// The order is cut into chunks, and the chunks are grouped into sections. The chunk of each id and the section of each
/// chunk are known, so only one of each is searched. This is a value: a change copies one chunk and its section's list
/// of chunks, if another value still has them, and shares all others.
/// - Complexity: finding an index or an id, and changing one record, visit at most *n* / 16,384 sections, and one
///   section and one chunk in full.
package struct OrderedRecords: Sendable {
  /// The most records of a chunk, and the most chunks of a section.
  package struct Shape: Sendable {
    package var chunk: Int
    package var section: Int

    /// - Precondition: both are at least two.
    package init(chunk: Int, section: Int) { (self.chunk, self.section) = (chunk, section) }

    package static let standard = Shape(chunk: 256, section: 128)

    /// The length of chunks that are filled at once. It leaves some room, so that the first change need not split the
    /// chunk.
    package var filledChunk: Int { Swift.max(1, chunk * 3 / 4) }
    package var filledSection: Int { Swift.max(1, section * 3 / 4) }
  }

  package let shape: Shape
  package private(set) var count = 0
  package private(set) var sections: [RecordSection] = []
  private var homes: RecordHomes

  package init(shape: Shape = .standard) {
    self.shape = shape
    homes = RecordHomes()
  }

  /// - Complexity: O(*n*).
  package init(_ records: some Collection<EncodedRecord>, shape: Shape = .standard) {
    self.init(shape: shape)
    fill(records)
  }

  /// Records that are read when somebody looks at them.
  /// - Complexity: O(*n*) in the number of chunks.
  package init(_ unread: any UnreadRecords, shape: Shape = .standard) {
    self.shape = shape
    homes = RecordHomes(unread)
    count = unread.count
    let length = unread.chunkLength
    for number in 0..<(count + length - 1) / length {
      append { [count] in
        RecordChunk(
          number: $0, unread: UnreadChunk(all: unread, number: number),
          count: Swift.min(length, count - number * length))
      }
    }
  }

  /// The records as they were before any change, if they stay in their file.
  package var unread: (any UnreadRecords)? { homes.unread }

  package func contains(_ id: AnyRecordID) -> Bool { homes.chunk(of: id, in: sections) != nil }

  package func index(of id: AnyRecordID) -> Int? {
    guard let chunk = homes.chunk(of: id, in: sections) else { return nil }
    let home = homes.section(ofChunk: chunk)
    var index = 0
    for section in sections {
      if section.number == home { return section.index(of: id, inChunk: chunk).map { index + $0 } }
      index += section.count
    }
    return nil
  }

  /// Whether these are the same records in the same memory.
  package func isIdentical(to other: OrderedRecords) -> Bool {
    StorageIdentity(sections) == StorageIdentity(other.sections)
  }

  /// In order.
  package var ids: [AnyRecordID] {
    var ids: [AnyRecordID] = []
    ids.reserveCapacity(count)
    for record in self { ids.append(record.id) }
    return ids
  }

  package mutating func insert(_ records: some Collection<EncodedRecord>, at index: Int) {
    if records.count > count {
      rebuild(Array(prefix(index)) + records + Array(suffix(count - index)))
      return
    }
    for (offset, record) in records.enumerated() { insert(record, at: index + offset) }
  }

  package mutating func replace(index: Int, with record: EncodedRecord) {
    let position = position(of: index)
    sections[position.section].change(position.chunk) { $0[position.offset] = record }
  }

  @discardableResult
  package mutating func remove(index: Int) -> EncodedRecord {
    homes.prepare(sections)
    let position = position(of: index)
    let removed = sections[position.section].change(position.chunk) { $0.remove(at: position.offset) }
    homes.remove(removed.id)
    count -= 1
    closeGap(position)
    return removed
  }

  package mutating func remove(_ ids: Set<AnyRecordID>) {
    if ids.count > count / 8 {
      rebuild(filter { !ids.contains($0.id) })
      return
    }
    for id in ids { if let index = index(of: id) { remove(index: index) } }
  }

  package mutating func removeAll() { self = OrderedRecords(shape: shape) }

  package mutating func move(index: Int, to newIndex: Int) {
    guard index != newIndex else { return }
    insert(remove(index: index), at: newIndex)
  }

  /// Puts the records into a new order. `oldIndices` lists their present indices in that order.
  package mutating func reorder(_ oldIndices: [Int]) {
    let records = Array(self)
    rebuild(oldIndices.map { records[$0] })
  }
}

extension OrderedRecords {
  private mutating func rebuild(_ records: some Collection<EncodedRecord>) {
    self = OrderedRecords(records, shape: shape)
  }

  private mutating func fill(_ records: some Collection<EncodedRecord>) {
    var rest = records[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(shape.filledChunk))
      append { RecordChunk(number: $0, records: piece) }
      rest = rest.dropFirst(shape.filledChunk)
    }
    count = records.count
  }

  /// Appends a chunk, while these records are made.
  /// - Parameter chunk: makes the chunk with this number.
  private mutating func append(_ chunk: (UInt32) -> RecordChunk) {
    if sections.isEmpty || sections[sections.count - 1].chunks.count == shape.filledSection {
      sections.append(RecordSection(number: homes.newSection()))
    }
    let last = sections.count - 1
    sections[last].append(chunk(homes.newChunk(inSection: sections[last].number)))
  }

  private mutating func insert(_ record: EncodedRecord, at index: Int) {
    guard count > 0 else {
      rebuild(CollectionOfOne(record))
      return
    }
    homes.prepare(sections)
    let position = position(of: index)
    homes.put(record.id, inChunk: sections[position.section].chunks[position.chunk].number)
    sections[position.section].change(position.chunk) { $0.insert(record, at: position.offset) }
    count += 1
    if sections[position.section].chunks[position.chunk].count > shape.chunk { splitChunk(position) }
  }

  /// Cuts a chunk that is too long in two, and then its section if that is too long.
  private mutating func splitChunk(_ position: ChunkPosition) {
    let length = sections[position.section].chunks[position.chunk].count
    // Records that are added one after another fill their chunk. Otherwise each chunk would stay half empty.
    let cut = position.offset == length - 1 ? length - 1 : length / 2
    let number = homes.newChunk(inSection: sections[position.section].number)
    homes.put(sections[position.section].split(position.chunk, at: cut, number: number), inChunk: number)
    guard sections[position.section].chunks.count > shape.section else { return }
    let section = sections[position.section].splitInHalf(number: homes.newSection())
    homes.put(section.chunks, inSection: section.number)
    sections.insert(section, at: position.section + 1)
  }

  /// Removes a chunk that has lost its last record. If it and a neighbour are both short, joins them.
  private mutating func closeGap(_ position: ChunkPosition) {
    if sections[position.section].chunks[position.chunk].count == 0 {
      homes.free(sections[position.section].chunks[position.chunk].number)
      sections[position.section].removeEmpty(position.chunk)
      if sections[position.section].chunks.isEmpty { sections.remove(at: position.section) }
      return
    }
    let last = Swift.min(position.chunk + 1, sections[position.section].chunks.count - 1)
    guard last > 0 else { return }
    let (former, latter) = (
      sections[position.section].chunks[last - 1], sections[position.section].chunks[last]
    )
    guard former.count + latter.count <= shape.chunk / 2 else { return }
    homes.put(latter.records, inChunk: former.number)
    homes.free(latter.number)
    sections[position.section].join(last)
  }

  /// The position of the record at `index`; for the index after the last record, the position after it.
  private func position(of index: Int) -> ChunkPosition {
    var rest = index
    var section = 0
    while section < sections.count - 1, rest >= sections[section].count {
      rest -= sections[section].count
      section += 1
    }
    let (chunk, offset) = sections[section].position(of: rest)
    return ChunkPosition(section: section, chunk: chunk, offset: offset)
  }
}

extension OrderedRecords: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  package subscript(index: Int) -> EncodedRecord {
    precondition(index >= 0 && index < count, "there is no such index")
    let position = position(of: index)
    return sections[position.section].chunks[position.chunk].records[position.offset]
  }

  package struct Iterator: IteratorProtocol {
    private let sections: [RecordSection]
    /// The chunk after ``records``.
    private var following = (section: 0, chunk: 0)
    private var records: [EncodedRecord] = []
    private var offset = 0

    fileprivate init(_ sections: [RecordSection]) { self.sections = sections }

    fileprivate init(_ sections: [RecordSection], from position: ChunkPosition) {
      self.sections = sections
      records = sections[position.section].chunks[position.chunk].records
      offset = position.offset
      following = (position.section, position.chunk + 1)
    }

    package mutating func next() -> EncodedRecord? {
      while offset == records.count {
        guard following.section < sections.count else { return nil }
        if following.chunk == sections[following.section].chunks.count {
          following = (following.section + 1, 0)
        } else {
          records = sections[following.section].chunks[following.chunk].records
          offset = 0
          following.chunk += 1
        }
      }
      defer { offset += 1 }
      return records[offset]
    }

    /// The next records that are beside each other in memory: the rest of a chunk. `nil` at the end.
    package mutating func nextRun() -> ArraySlice<EncodedRecord>? {
      guard next() != nil else { return nil }
      let run = records[(offset - 1)...]
      offset = records.count
      return run
    }

    /// Skips `count` records, or all that are left.
    package mutating func skip(_ count: Int) {
      var rest = count
      while rest > records.count - offset {
        rest -= records.count - offset
        offset = records.count
        guard next() != nil else { return }
        rest -= 1
      }
      offset += rest
    }
  }

  package func makeIterator() -> Iterator { Iterator(sections) }

  /// Begins at `index` instead of the first record.
  package func makeIterator(from index: Int) -> Iterator {
    index < count ? Iterator(sections, from: position(of: index)) : Iterator([])
  }
}

private struct ChunkPosition {
  var section: Int
  var chunk: Int
  var offset: Int
}
