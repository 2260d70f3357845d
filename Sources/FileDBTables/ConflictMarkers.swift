import FileDBPlist

/// The lines that git puts around the two sides of a conflict when it merges a table as text.
package enum ConflictMarkers {
  private static let length = 7
  private static let begin = UInt8(ascii: "<")
  private static let base = UInt8(ascii: "|")
  private static let separator = UInt8(ascii: "=")
  private static let end = UInt8(ascii: ">")
  private static let signs = "<|=>".utf8

  /// The line of the first marker in a file that is not a property list.
  ///
  /// Outside comments and CDATA, no line of XML begins with `<<<<<<<`. Inside, such a line may be text, unless the
  /// conflict ends outside. The other markers may be lines of a text, so they count only if reading fails at them.
  /// - Parameter failure: the line on which reading the file failed.
  static func firstLine(in bytes: [UInt8], failure: Int?) -> Int? {
    var passage: Passage?
    var begunInPassage: Int?
    var (number, rest) = (1, bytes[...])
    while !rest.isEmpty {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      switch (sign(of: line), passage) {
      case (begin, nil): return number
      case (.some, _) where number == failure: return begunInPassage ?? number
      case (begin, _): begunInPassage = number
      case (end, nil): if let begunInPassage { return begunInPassage }
      case (end, _): begunInPassage = nil
      default: break
      }
      passage = Passage.open(behind: line, after: passage)
      (number, rest) = (number + 1, rest[line.endIndex...].dropFirst())
    }
    return nil
  }

  /// The character that a marker line repeats; `nil` for another line.
  private static func sign(of line: ArraySlice<UInt8>) -> UInt8? {
    guard let sign = line.first, signs.contains(sign) else { return nil }
    let rest = line.drop { $0 == sign }
    guard line.count - rest.count == length else { return nil }
    return rest.first.map(isXMLSpace) ?? true ? sign : nil
  }
}

/// The versions of a file that is in conflict.
package struct ConflictVersions: Sendable {
  /// The common ancestor of both sides; `nil` if it is unknown, or if each side made the file itself.
  package fileprivate(set) var base: [UInt8]?
  package fileprivate(set) var ours: [UInt8]
  package fileprivate(set) var theirs: [UInt8]
  /// Identifies the conflict in git; `nil` if these are not git's own versions.
  package let identity: String?

  package init(base: [UInt8]?, ours: [UInt8], theirs: [UInt8], identity: String? = nil) {
    (self.base, self.ours, self.theirs, self.identity) = (base, ours, theirs, identity)
  }

  fileprivate mutating func append(_ next: ConflictVersions) {
    if let more = next.base { base? += more } else { base = nil }
    ours += next.ours
    theirs += next.theirs
  }
}

extension ConflictMarkers {
  /// The versions that the markers in a file enclose. A line of text may look like a marker, so there may be several
  /// ways to read them.
  /// - Returns: at most 64 ways; none if the markers are incomplete.
  package static func readings(of bytes: [UInt8]) -> [ConflictVersions] {
    guard let parts = parts(of: bytes), parts.contains(where: { $0.conflict != nil }) else { return [] }
    var readings = [ConflictVersions(base: [], ours: [], theirs: [])]
    for part in parts {
      let shared = Array(bytes[part.shared])
      for index in readings.indices {
        readings[index].append(ConflictVersions(base: shared, ours: shared, theirs: shared))
      }
      guard let conflict = part.conflict else { continue }
      let cuts = conflict.cuts
      guard readings.count * cuts.count <= 64 else { return [] }
      readings = readings.flatMap { reading in
        cuts.map { cut in
          var reading = reading
          reading.append(conflict.versions(base: cut.base, separator: cut.separator))
          return reading
        }
      }
    }
    return readings
  }

  /// Lines that all versions share, and the conflict after them.
  private struct Part {
    var shared: Range<Int>
    var conflict: Conflict?
  }

  /// - Returns: `nil` if a conflict has no end.
  private static func parts(of bytes: [UInt8]) -> [Part]? {
    var parts: [Part] = []
    var part = Part(shared: 0..<0)
    var open: Conflict?
    var rest = bytes[...]
    while !rest.isEmpty {
      let text = rest.prefix { $0 != UInt8(ascii: "\n") }
      rest = rest[text.endIndex...].dropFirst()
      let line = bytes[text.startIndex..<rest.startIndex]
      switch (open, sign(of: text)) {
      case (nil, begin): open = Conflict()
      case (nil, _): part.shared = part.shared.lowerBound..<line.endIndex
      case (let conflict?, end) where !conflict.separators.isEmpty:
        part.conflict = conflict
        parts.append(part)
        part = Part(shared: line.endIndex..<line.endIndex)
        open = nil
      case (_?, let sign): open?.append(line, sign: sign)
      }
    }
    return open == nil ? parts + [part] : nil
  }

  /// The lines between the first and the last marker of a conflict.
  private struct Conflict {
    var lines: [ArraySlice<UInt8>] = []
    var bases: [Int] = []
    var separators: [Int] = []

    mutating func append(_ line: ArraySlice<UInt8>, sign: UInt8?) {
      if sign == ConflictMarkers.base { bases.append(lines.count) }
      if sign == separator { separators.append(lines.count) }
      lines.append(line)
    }

    /// The lines at which the versions may end.
    var cuts: [(base: Int?, separator: Int)] {
      separators.flatMap { separator in
        let before = bases.filter { $0 < separator }
        return before.isEmpty ? [(base: nil, separator)] : before.map { (base: $0, separator) }
      }
    }

    func versions(base: Int?, separator: Int) -> ConflictVersions {
      ConflictVersions(
        base: base.map { Array(lines[($0 + 1)..<separator].joined()) },
        ours: Array(lines[..<(base ?? separator)].joined()),
        theirs: Array(lines[(separator + 1)...].joined()))
    }
  }
}

/// A part of an XML file in which `<` does not begin a tag.
private enum Passage: CaseIterable {
  case comment, cdata

  private var start: [UInt8] { Array((self == .comment ? "<!--" : "<![CDATA[").utf8) }
  private var end: [UInt8] { Array((self == .comment ? "-->" : "]]>").utf8) }

  /// The passage that is still open where `line` ends.
  /// - Parameter passage: the one in which it begins.
  static func open(behind line: ArraySlice<UInt8>, after passage: Passage?) -> Passage? {
    var (rest, passage) = (line, passage)
    while true {
      if let open = passage {
        guard let end = rest.firstRange(of: open.end) else { return open }
        (rest, passage) = (rest[end.upperBound...], nil)
      } else {
        guard let tag = rest.firstRange(of: Array("<!".utf8))?.lowerBound else { return nil }
        rest = rest[tag...]
        passage = allCases.first { rest.starts(with: $0.start) }
        rest = rest.dropFirst(passage?.start.count ?? 1)
      }
    }
  }
}
