import FileDB

/// The tables that the workers write to.
let workTables: [TableName<WorkRow>] = ["first", "second"].map { TableName($0) }

/// A record that shows whether it is whole. Its text follows from its other fields, so that a model need not hold it.
struct WorkRow: Codable, Sendable, Equatable {
  /// The only process that may change or delete it.
  var writer: String
  /// The writer's own number for it; ``markKey`` for the one record that says how far the writer has come.
  var key: Int
  /// The writer's commit that last changed it.
  var sequence: Int
  /// How long the text is, in ``pieces``.
  var length: Int
  var text: String
  /// A checksum of all the other fields.
  var sum: String

  static let markKey = 0

  init(writer: String, key: Int, sequence: Int, length: Int) {
    self.writer = writer
    self.key = key
    self.sequence = sequence
    self.length = length
    text = Self.text(length: length, from: key + sequence)
    sum = ""
    sum = expectedSum
  }

  var isWhole: Bool {
    length >= 0 && key >= 0 && sequence >= 0
      && self == WorkRow(writer: writer, key: key, sequence: sequence, length: length)
  }

  /// What XML makes harder than it looks.
  private static let pieces = ["a", "<", "&", "é", "\r\n", "\t", "]]>", "𝄞", " ", "Z", "\n", "\"", "\r"]

  private static func text(length: Int, from start: Int) -> String {
    let first = start % pieces.count
    let round = (pieces[first...] + pieces[..<first]).joined()
    return String(repeating: round, count: length / pieces.count)
      + pieces.prefix(length % pieces.count).joined()
  }

  /// FNV-1a.
  private var expectedSum: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in "\(writer)|\(key)|\(sequence)|\(length)|\(text)".utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return String(hash, radix: 16)
  }
}
