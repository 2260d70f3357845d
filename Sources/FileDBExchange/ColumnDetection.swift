import FileDB

/// What the texts of a column could be.
public struct ColumnDetection: Sendable {
  /// A type or a notation that all texts of a column of text have, although FileDB would not write them as they are.
  public enum NearMiss: Sendable, Equatable {
    /// All are of this type, but `text` would be written as `written`.
    case rewritten(FieldType, text: String, written: String)
    /// All are numbers with this mark.
    case decimalMark(TextNotation.DecimalMark, text: String)
    /// All are dates in one of these forms.
    case datePatterns([String], text: String)
  }

  /// The narrowest type for which no text is lost; `nil` for text.
  public internal(set) var type: FieldType?
  /// `nil` if the column has a type, or nothing comes near to one.
  public internal(set) var nearMiss: NearMiss?
}

/// The types that are still possible for the texts of a column, one text after another.
struct TypeCandidates {
  private var kept: [FieldType] = [.integer, .float, .bool, .date]
  /// Of use only when nothing is left of the others.
  private var near = NearReadings.none
  private var hasText = false
  private let notation: TextNotation

  init(_ notation: TextNotation) { self.notation = notation }

  var result: ColumnDetection {
    guard hasText else { return ColumnDetection() }
    if let type = kept.first { return ColumnDetection(type: type) }
    return ColumnDetection(nearMiss: near.result)
  }

  mutating func see(_ cell: DelimitedReader.Cell, _ emptyText: DelimitedImport.EmptyText) {
    guard !kept.isEmpty || !near.isEmpty, !cell.isMissing(as: .string, emptyText) else { return }
    let text = cell.text
    defer { hasText = true }
    if !kept.isEmpty {
      let former = kept.first
      let lost = kept.filter { !isKept(text, $0) }
      if !lost.isEmpty { kept.removeAll(where: lost.contains) }
      guard kept.isEmpty else { return }
      near = NearReadings(after: hasText ? former : nil)
    }
    near.see(text)
  }

  private func isKept(_ text: String, _ type: FieldType) -> Bool {
    guard notation.concerns(type) else { return type.keeps(text) }
    if type.isNumber, text.hasLeadingZero { return false }
    return notation.plain(text, as: type).flatMap(type.value(of:)) != nil
  }

  /// What all texts so far could be if FileDB did not have to write them as they are.
  private struct NearReadings {
    private var types: [(type: FieldType, rewritten: (text: String, written: String)?)]
    private var marks: [(mark: TextNotation.DecimalMark, text: String?)]
    private var patterns: [DatePattern]
    private var first: String?

    static let none = NearReadings(types: [], marks: [], patterns: [])

    private init(types: [FieldType], marks: [TextNotation.DecimalMark], patterns: [DatePattern]) {
      self.types = types.map { ($0, nil) }
      self.marks = marks.map { ($0, nil) }
      self.patterns = patterns
    }

    /// What a column can be in which all texts so far were of this type, as FileDB writes it; `nil` for the first text.
    init(after type: FieldType?) {
      switch type {
      case .integer: self.init(types: [.integer, .float], marks: [.comma, .point], patterns: [])
      case .float: self.init(types: [.float], marks: [.point], patterns: [])
      case let type?: self.init(types: [type], marks: [], patterns: [])
      case nil:
        self.init(
          types: [.integer, .float, .bool, .date], marks: [.comma, .point], patterns: DatePattern.usual)
      }
    }

    var isEmpty: Bool { types.isEmpty && marks.isEmpty && patterns.isEmpty }

    /// - Returns: `nil` if nothing is left.
    var result: ColumnDetection.NearMiss? {
      if let (type, rewritten) = types.first, let rewritten {
        return .rewritten(type, text: rewritten.text, written: rewritten.written)
      }
      for case (let mark, let text?) in marks { return .decimalMark(mark, text: text) }
      guard let first, !patterns.isEmpty else { return nil }
      return .datePatterns(patterns.map(\.text), text: first)
    }

    mutating func see(_ text: String) {
      if isEmpty { return }
      first = first ?? text
      let isCode = text.hasLeadingZero
      types = types.compactMap { type, rewritten in
        guard let value = type.value(of: text), type.isNumber ? !isCode && text.looksLikeNumber : true else {
          return nil
        }
        return (type, rewritten ?? (type.keeps(text) ? nil : (text, DelimitedWriter.text(of: value))))
      }
      marks = marks.compactMap { mark, found in
        let plain = TextNotation(decimalMark: mark).plain(text, as: .float)
        guard !isCode, let plain, FieldType.float.value(of: plain) != nil else { return nil }
        return (mark, found ?? (plain.utf8.elementsEqual(text.utf8) ? nil : text))
      }
      patterns.removeAll { $0.date(of: text) == nil }
    }
  }
}

extension FieldType {
  fileprivate var isNumber: Bool { self == .integer || self == .float }
}

extension String {
  /// As in `007`, which is more often a code than a number.
  fileprivate var hasLeadingZero: Bool {
    let digits = utf8.drop { "+-".utf8.contains($0) }
    return digits.first == UInt8(ascii: "0")
      && digits.dropFirst().first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
  }

  /// Whether it consists of digits, or is one of the words for what is no number.
  fileprivate var looksLikeNumber: Bool {
    ["nan", "inf", "-inf", "infinity", "-infinity"].contains(lowercased())
      || utf8.allSatisfy { (UInt8(ascii: "-")...UInt8(ascii: "9")).contains($0) && $0 != UInt8(ascii: "/") }
  }
}
