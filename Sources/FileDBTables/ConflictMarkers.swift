import FileDBPlist

/// The lines that git puts around the two sides of a conflict when it merges a table as text.
enum ConflictMarkers {
  private static let length = 7
  private static let begin = UInt8(ascii: "<")
  private static let end = UInt8(ascii: ">")
  private static let signs = "<|=>".utf8

  /// The line of the first marker in a file that is no property list.
  ///
  /// Outside comments and CDATA no XML has a line that begins with `<<<<<<<`; inside, it may be text, unless the
  /// conflict ends outside. The other markers may be lines of a text, and count only where reading fails at them.
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

  /// The sign of which a line is a marker.
  private static func sign(of line: ArraySlice<UInt8>) -> UInt8? {
    guard let sign = line.first, signs.contains(sign) else { return nil }
    let rest = line.drop { $0 == sign }
    guard line.count - rest.count == length else { return nil }
    return rest.first.map(isXMLSpace) ?? true ? sign : nil
  }
}

/// A part of an XML file in which `<` begins no tag.
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
