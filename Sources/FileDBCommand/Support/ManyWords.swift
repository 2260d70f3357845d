import ArgumentParser
import FileDB

/// Arguments of which there may be any number, such as ids.
///
/// For each word, ArgumentParser copies all words before it. So most words of a long command line are packed into one,
/// which an argument of this kind takes apart.
enum ManyWords {
  /// No word of a command line can contain it.
  private static let separator = UInt8(0)
  /// The first words after an option are not packed, because they may be its value, the command and the table.
  private static let (least, first) = (64, 4)

  static func packed(_ words: [String]) -> [String] {
    guard words.count > least else { return words }
    let parts = words.split(separator: "--", maxSplits: 1, omittingEmptySubsequences: false)
    return Array(parts.map(packedOptions).joined(separator: ["--"]))
  }

  private static func packedOptions(_ words: ArraySlice<String>) -> [String] {
    var (result, rest) = ([String](), words)
    while !rest.isEmpty {
      let run = rest.prefix { !$0.hasPrefix("-") }
      rest = rest[run.endIndex...]
      result += run.prefix(first)
      let others = run.dropFirst(first)
      if !others.isEmpty { result.append(others.joined(separator: "\0")) }
      if let option = rest.popFirst() { result.append(option) }
    }
    return result
  }

  /// The transformation of such an argument.
  static func each<Value>(
    _ parse: @escaping @Sendable (String) throws -> Value
  ) -> @Sendable (String) throws -> [Value] {
    { packed in
      try packed.utf8.split(separator: separator, omittingEmptySubsequences: false)
        .map { try parse(String(Substring($0))) }
    }
  }
}
