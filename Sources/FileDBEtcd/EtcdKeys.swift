import FileDBCluster
import FileDBTables

/// The keys of a store. <doc:Cluster> describes them for other languages.
struct EtcdKeys: Sendable {
  static let format = "1"

  let root: String

  init(prefix: String, store: String) {
    root = "\(prefix)/\(SharedAddress.encoded(store, keeping: "-._~"))/"
  }

  /// The version of all this.
  var format: String { root + "format" }
  var identity: String { root + "identity" }
  /// The last commit: its number and its token. Whoever appends compares it, and writes it.
  var head: String { root + "head" }
  /// The last commit that was forgotten, likewise.
  var start: String { root + "start" }
  /// How many seconds commits are kept.
  var keep: String { root + "keep" }
  var commits: String { root + "commits/" }
  var parts: String { root + "parts/" }
  var split: String { root + "split/" }
  /// The last commit that the tables include which a new machine begins with.
  var base: String { root + "base" }
  /// Those tables, a line each.
  var tables: String { root + "tables" }
  var pieces: String { root + "pieces/" }

  func commit(_ sequence: UInt64) -> String { commits + Self.digits(sequence) }
  func parts(of token: String) -> String { "\(parts)\(token)/" }
  /// Says which commit the parts belong to.
  func split(_ token: String) -> String { split + token }
  func pieces(of table: String) -> String { "\(pieces)\(table)/" }

  /// The key of a part or a piece.
  static func number(_ index: Int, under key: String) -> String { key + digits(UInt64(index)) }

  /// 16 hexadecimal digits, so that keys sort as their numbers.
  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
