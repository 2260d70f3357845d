import FileDBTables

/// Tells whether two schemas have the same rules.
struct RulesVersion: Equatable, Sendable {
  private let hash: ValueHash

  init(_ schema: TableSchema) {
    var rules = schema
    rules.referencingTables = []
    hash = ValueHash([rules.plist])
  }

  /// `nil` for anything but what ``text`` gives.
  init?(text: String) {
    guard let number = UInt64(text, radix: 16) else { return nil }
    hash = ValueHash(number: number)
  }

  var text: String { String(hash.number, radix: 16) }
}
