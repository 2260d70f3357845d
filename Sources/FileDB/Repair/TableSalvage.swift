import FileDBEssentials
import FileDBPlist
import FileDBTables

/// Finds the records of a table's file that is no longer a complete property list: it is cut off, or damaged inside.
///
/// Outside comments and CDATA, an unescaped `<` begins a tag, so no text looks like a tag. A record is enclosed by a
/// `<dict>` and its `</dict>`. If these do not match, the tabs or spaces before a `<dict>` show whether it begins the
/// next record or is inside this one.
struct TableSalvage {
  typealias Record = (value: PlistValue, line: Int, range: Range<Int>)

  private(set) var records: [Record] = []
  /// What became of damaged values that are kept in another form.
  private(set) var corrected: [RecordSalvage.Note] = []
  /// What cannot be read.
  private(set) var lost: [RecordSalvage.Note] = []
  private(set) var counter: AnyRecordID?
  /// The table's schema, whether it is valid or not; `nil` if there is none that can be read by itself.
  private(set) var schema: PlistValue?
  /// The line where a schema begins that cannot be read.
  private(set) var lostSchema: Int?
  /// The number of records with an id.
  private var idCount = 0

  init(_ bytes: [UInt8], limits: PlistLimits) {
    let tags = Self.tags(in: bytes)
    // Records are the dictionaries with the indentation at which most dictionaries with an id are.
    for (_, starts) in Dictionary(grouping: tags.filter { !$0.isEnd }, by: \.indentation) {
      let found = Self(bytes, recordsAt: starts, tags: tags, limits: limits)
      if found.idCount > idCount { self = found }
    }
    if records.isEmpty { lost = Self.unread(in: bytes, tags) }
    counter = Self.counter(in: bytes)
    findSchema(in: bytes, tags: tags, limits: limits)
  }

  fileprivate struct Tag {
    let position: Int
    let end: Int
    let line: Int
    let isEnd: Bool
    /// The tabs and spaces before it.
    let indentation: [UInt8]
  }

  /// Every `<dict>` and `</dict>` outside comments and CDATA.
  private static func tags(in bytes: [UInt8]) -> [Tag] {
    let (open, close) = (Array("<dict>".utf8), Array("</dict>".utf8))
    var tags: [Tag] = []
    var line = 1
    var position = 0
    while position < bytes.count {
      if endsLine(bytes, at: position) { line += 1 }
      guard bytes[position] == UInt8(ascii: "<") else {
        position += 1
        continue
      }
      let rest = bytes[position...]
      for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] where rest.starts(with: start.utf8) {
        let skipped = bytes[position..<(rest.firstRange(of: Array(end.utf8))?.upperBound ?? position + 1)]
        line += skipped.dropLast().indices.count { endsLine(bytes, at: $0) }
        position = skipped.endIndex - 1
      }
      let isEnd = rest.starts(with: close)
      if isEnd || rest.starts(with: open) {
        let indentation = bytes[..<position].reversed().prefix { $0 == 0x20 || $0 == 0x09 }
        let length = isEnd ? close.count : open.count
        tags.append(
          Tag(
            position: position, end: position + length, line: line, isEnd: isEnd,
            indentation: indentation.reversed()))
      }
      position += 1
    }
    return tags
  }

  /// In a CRLF, the line feed ends the line.
  private static func endsLine(_ bytes: [UInt8], at position: Int) -> Bool {
    if bytes[position] == UInt8(ascii: "\n") { return true }
    guard bytes[position] == UInt8(ascii: "\r") else { return false }
    return position + 1 == bytes.count || bytes[position + 1] != UInt8(ascii: "\n")
  }

  private static func unreadRecord(at line: Int) -> RecordSalvage.Note {
    ("what is here cannot be read as a record; it is left out", line)
  }

  /// The dictionaries in the array of records, if none of them can be read.
  private static func unread(in bytes: [UInt8], _ tags: [Tag]) -> [RecordSalvage.Note] {
    func place(of key: String) -> Int? { bytes.firstRange(of: Array("<key>\(key)</key>".utf8))?.upperBound }
    guard let start = place(of: TableFile.recordsKey) else { return [] }
    let end = place(of: TableFile.indexKey).flatMap { $0 > start ? $0 : nil } ?? bytes.count
    let starts = tags.filter { !$0.isEnd && $0.position > start && $0.position < end }
    let least = starts.map(\.indentation.count).min()
    return starts.filter { $0.indentation.count == least }.map { unreadRecord(at: $0.line) }
  }

  /// Reads the records that begin with these tags.
  private init(_ bytes: [UInt8], recordsAt starts: [Tag], tags: [Tag], limits: PlistLimits) {
    var read = 0
    for (number, start) in starts.enumerated() where start.position >= read {
      let next = number + 1 < starts.count ? starts[number + 1].position : bytes.count
      // If the tags are not closed, the next one with the same indentation begins the next record.
      let end = Self.end(of: start, in: tags)
      read = end ?? next
      let element = bytes[start.position..<read]
      if let value = RecordSalvage.value(element, limits), let fields = value.dict {
        records.append((value, start.line, start.position..<read))
        if fields[TableFile.idKey] != nil { idCount += 1 }
        continue
      }
      // If a record is cut off, what looks like its last field may be another record's.
      let salvage = end.map { _ in RecordSalvage(element, line: start.line, limits: limits) }
      if let salvage, salvage.isTable {
        read = min(read, next)
      } else if let salvage, !salvage.fields.isEmpty {
        records.append((.dict(salvage.fields), start.line, start.position..<read))
        if salvage.fields[TableFile.idKey] != nil { idCount += 1 }
        corrected += salvage.notes
        lost += salvage.lost
      } else {
        lost.append(Self.unreadRecord(at: start.line))
        read = min(read, next)
      }
    }
  }

  /// Searches for the dictionary after the key `schema`. A record may have a field with this name, too.
  private mutating func findSchema(in bytes: [UInt8], tags: [Tag], limits: PlistLimits) {
    let key = Array("<key>\(TableFile.schemaKey)</key>".utf8)
    for tag in tags.reversed()
    where !tag.isEnd && !records.contains(where: { $0.range.contains(tag.position) }) {
      var start = tag.position
      while start > 0, isXMLSpace(bytes[start - 1]) { start -= 1 }
      guard bytes[..<start].suffix(key.count).elementsEqual(key) else { continue }
      let value = Self.end(of: tag, in: tags).flatMap { end in
        RecordSalvage.value(bytes[tag.position..<end], limits)
      }
      switch SchemaDeclaration(value) {
      case .schema, .unreadable:
        (schema, lostSchema) = (value, nil)
        return
      case .none: lostSchema = tag.line
      case .foreign: break
      }
    }
  }

  /// The index of the tag that ends the dictionary beginning with `start`.
  private static func end(of start: Tag, in tags: [Tag]) -> Int? {
    // The tags are in order.
    var index = tags.partitioningIndex { $0.position >= start.position }
    var depth = 0
    while index < tags.count {
      depth += tags[index].isEnd ? -1 : 1
      if depth == 0 { return tags[index].end }
      // A record cannot begin inside itself, so a tag is missing.
      if depth > 1, !tags[index].isEnd, tags[index].indentation == start.indentation,
        !start.indentation.isEmpty
      {
        return nil
      }
      index += 1
    }
    return nil
  }

  /// The digits after the counter's key.
  private static func counter(in bytes: [UInt8]) -> AnyRecordID? {
    guard let key = bytes.firstRange(of: Array("<key>\(TableFile.counterKey)</key>".utf8)) else { return nil }
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    // Only a tag and white space are in between.
    let digits = bytes[key.upperBound...].prefix(80).drop { !isDigit($0) }.prefix(while: isDigit)
    return AnyRecordID(String(decoding: digits, as: UTF8.self))
  }
}
