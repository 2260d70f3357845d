import ArgumentParser
import FileDB
import FileDBExchange

/// Ids in one word of a command line: `3`, `1,2,5-9`, or `-` for the ids in standard input.
enum IDWord: Equatable {
  case ids([IDRange])
  case standardInput

  static let help: ArgumentHelp =
    "The ids of the records: 3, or 1,2,5-9, which takes the records from 5 to 9 that exist; - reads ids from standard input."

  /// - Returns: `nil` for any other word.
  init?(_ word: String) {
    if word == "-" {
      self = .standardInput
      return
    }
    let parts = word.parts(between: ",")
    let ranges = parts.compactMap { IDRange($0) }
    guard ranges.count == parts.count else { return nil }
    self = .ids(ranges)
  }

  /// The transformation of an argument that consists of ids.
  static let each = ManyWords.each { word in
    guard let ids = IDWord(word) else {
      throw ValidationError("An id is a whole number; several are written 1,2,5-9.")
    }
    return ids
  }
}

/// One id, or all ids from one to another.
enum IDRange: Equatable {
  case id(RecordID<Fields>)
  case range(ClosedRange<Int64>)

  init?(_ text: String) {
    if let id = RecordID<Fields>(text) {
      self = .id(id)
      return
    }
    let ends = text.parts(between: "-").compactMap { RecordID<Fields>($0)?.rawValue }
    guard ends.count == 2, text.parts(between: "-").count == 2, ends[0] <= ends[1] else { return nil }
    self = .range(ends[0]...ends[1])
  }
}

/// The arguments of a command that changes records: ids, or a condition.
struct RecordChoice: ParsableArguments {
  @Argument(help: ArgumentHelp(IDWord.help.abstract, valueName: "ids"), transform: IDWord.each)
  var words: [[IDWord]] = []
  @OptionGroup var condition: WriteCondition

  private var ids: [IDWord] { words.flatMap(\.self) }

  func validate() throws { try condition.matching.validate(besides: ids) }

  /// - Throws: as ``ChosenRecords/init(_:_:)``.
  func chosen() throws -> ChosenRecords { try ChosenRecords(ids, condition) }
}

/// The records that a command changes: by their ids, or by a condition.
struct ChosenRecords {
  private let ranges: [IDRange]
  private let condition: WriteCondition
  /// Whether the command says how many there were, because its words do not tell.
  let isCounted: Bool

  /// - Throws: for standard input that has other words than ids.
  init(_ words: [IDWord], _ condition: WriteCondition) throws {
    var ranges: [IDRange] = []
    for word in words {
      switch word {
      case .ids(let more): ranges += more
      case .standardInput: ranges += try Self.read(InputFile.standardInput.readAll())
      }
    }
    (self.ranges, self.condition) = (ranges, condition)
    isCounted =
      condition.matching.isGiven || words.contains(.standardInput)
      || ranges.contains { if case .range = $0 { true } else { false } }
  }

  /// Ids between white space and commas, perhaps with a first line `id`, as `filedb show --format csv --fields id` prints
  /// them.
  private static func read(_ bytes: [UInt8]) throws -> [IDRange] {
    let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace || $0 == "," }
    return try words.dropFirst(words.first == "id" ? 1 : 0).map { word in
      guard let range = IDRange(String(word)) else {
        throw StoreError(
          StoreError.Code.invalidText, "'\(word.prefix(40))' is not an id; give one id on each line",
          file: "standard input")
      }
      return range
    }
  }

  /// - Parameter used: the names of arguments that are used elsewhere.
  /// - Throws: as ``WriteCondition/records(of:besides:)``; ``StoreError/Code/recordNotFound`` if there is none.
  func ids(in snapshot: TableSnapshot<Fields>, besides used: Set<String> = []) throws -> [RecordID<Fields>] {
    if let matches = try condition.records(of: snapshot, besides: used) { return matches.map(\.id) }
    var ids: [RecordID<Fields>] = []
    for range in ranges {
      switch range {
      case .id(let id): ids.append(id)
      case .range(let numbers): ids += Self.existing(numbers, in: snapshot)
      }
    }
    if ids.isEmpty, !condition.allowEmpty { throw StoreError.noMatch(in: TableName(snapshot.table)) }
    return ids
  }

  private static func existing(
    _ numbers: ClosedRange<Int64>, in snapshot: TableSnapshot<Fields>
  ) -> [RecordID<Fields>] {
    // No record has a higher id. (Clamping a range beyond it would give the highest.)
    guard numbers.lowerBound <= snapshot.counter else { return [] }
    let numbers = numbers.lowerBound...min(numbers.upperBound, snapshot.counter)
    guard numbers.count <= 1_000 else {
      return snapshot.lazy.map(\.id).filter { numbers.contains($0.rawValue) }.sorted()
    }
    return numbers.compactMap { RecordID<Fields>(rawValue: $0) }.filter { snapshot[id: $0] != nil }
  }
}
