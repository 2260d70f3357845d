import FileDBEssentials
import FileDBTables

/// The keys of a store. <doc:ClusterFormat> describes them.
struct EtcdKeys: Sendable {
  static let format = "1"

  let root: String

  init(prefix: String, store: String) {
    root = "\(prefix)/\(PercentEncoding.encode(store))/"
  }

  /// The version of this key format.
  var format: String { root + "format" }
  var identity: String { root + "identity" }
  /// The number and token of the last commit. Every append checks that this key is unchanged, and then writes it.
  var head: String { root + "head" }
  /// The number and token of the last forgotten commit.
  var start: String { root + "start" }
  /// How long commits are kept, in seconds.
  var keep: String { root + "keep" }
  var commits: String { root + "commits/" }
  var parts: String { root + "parts/" }
  var split: String { root + "split/" }
  /// The number and token of the last commit that the tables of the base include.
  var base: String { root + "base" }
  /// The tables of the base, one per line. A new machine starts from them.
  var tables: String { root + "tables" }
  var pieces: String { root + "pieces/" }

  func commit(_ sequence: UInt64) -> String { commits + Self.digits(sequence) }
  func parts(of token: String) -> String { "\(parts)\(token)/" }
  /// The key with the number of the commit that the parts belong to.
  func split(_ token: String) -> String { split + token }
  func pieces(of table: String) -> String { "\(pieces)\(table)/" }

  /// The number of the commit that is stored under a key.
  static func sequence(of key: [UInt8]) -> UInt64? { UInt64(hexadecimal: key.suffix(16)) }

  /// The key of a part or a piece.
  static func number(_ index: Int, under key: String) -> String { key + digits(UInt64(index)) }

  /// 16 hexadecimal digits, so that keys sort in the order of their numbers.
  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
