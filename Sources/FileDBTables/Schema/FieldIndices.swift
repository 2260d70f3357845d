import FileDBPlist
import Synchronization

/// The indices of a schema's fields, by their names. They are looked up when the first one is needed.
struct FieldIndices: Sendable {
  private final class Known: Sendable {
    let indices: Mutex<[TableKey: Int]?>

    init(_ indices: [TableKey: Int]?) { self.indices = Mutex(indices) }
  }

  private var known = Known(nil)

  /// - Parameter fields: the same ones each time.
  func index(of name: String, in fields: [FieldSchema]) -> Int? {
    known.indices.withLock { indices in
      let found =
        indices
        ?? Dictionary(
          fields.indices.lazy.map { (TableKey(fields[$0].name), $0) }, uniquingKeysWith: { first, _ in first }
        )
      indices = found
      return found[TableKey(name)]
    }
  }

  /// Adds a field that was not there.
  mutating func add(_ name: String, at index: Int) {
    if !isKnownUniquelyReferenced(&known) { known = Known(known.indices.withLock(\.self)) }
    known.indices.withLock { $0?[TableKey(name)] = index }
  }
}

/// Schemas are equal if their fields are.
extension FieldIndices: Hashable {
  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
