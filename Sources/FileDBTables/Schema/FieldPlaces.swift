import FileDBPlist
import Synchronization

/// Where the fields of a schema are, by their names. They are looked up when the first one is needed.
struct FieldPlaces: Sendable {
  private final class Known: Sendable {
    let places: Mutex<[TableKey: Int]?>

    init(_ places: [TableKey: Int]?) { self.places = Mutex(places) }
  }

  private var known = Known(nil)

  /// - Parameter fields: the same ones each time.
  func place(of name: String, in fields: [FieldSchema]) -> Int? {
    known.places.withLock { places in
      let found =
        places
        ?? Dictionary(
          fields.indices.lazy.map { (TableKey(fields[$0].name), $0) }, uniquingKeysWith: { first, _ in first }
        )
      places = found
      return found[TableKey(name)]
    }
  }

  /// Adds a field that was not there.
  mutating func add(_ name: String, at place: Int) {
    if !isKnownUniquelyReferenced(&known) { known = Known(known.places.withLock(\.self)) }
    known.places.withLock { $0?[TableKey(name)] = place }
  }
}

/// Schemas are equal if their fields are.
extension FieldPlaces: Hashable {
  static func == (left: Self, right: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
