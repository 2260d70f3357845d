import FileDBPlist
import FileDBTables

/// A step from one version of a type's fields to the next; see ``VersionedValue``.
///
/// A step changes or removes only the fields that it names: ``rename(_:to:)`` moves one field, ``convert(_:_:)``
/// replaces one, and ``custom(replacing:_:)`` has a list of them.
public struct ValueMigration: Sendable {
  private enum Kind: Sendable {
    case rename(String, to: String)
    case fill(String, PlistValue)
    case convert(String, @Sendable (PlistValue) throws -> PlistValue?)
    case custom(replacing: [String], @Sendable (inout Fields) throws -> Void)
  }

  private let kind: Kind

  /// Moves the value of one field to another. If the other field already has a value, both stay as they are.
  public static func rename(_ field: String, to newName: String) -> ValueMigration {
    ValueMigration(kind: .rename(field, to: newName))
  }

  /// Gives a field a value if the record lacks it.
  public static func `default`(_ field: String, _ value: PlistValue) -> ValueMigration {
    ValueMigration(kind: .fill(field, value))
  }

  /// Converts the value of a field. If the record lacks the field, nothing happens.
  ///
  /// A record that somebody made by hand may already have the new form. So if the meaning of a field changes but its
  /// type does not, give the field another name.
  /// - Parameters:
  ///   - field: the field's name.
  ///   - transform: returns the new form of the value; `nil` leaves the field as it is. If it throws, the migration
  ///     fails.
  public static func convert(
    _ field: String, _ transform: @escaping @Sendable (PlistValue) throws -> PlistValue?
  ) -> ValueMigration {
    ValueMigration(kind: .convert(field, transform))
  }

  /// Runs your own code. It may add fields, and it may change or remove those of the existing fields that are in
  /// `fields`. If it removes another field, that field stays. If it changes another field, the migration fails.
  ///
  ///     .custom(replacing: ["hours"]) { fields in
  ///       guard let hours = fields["hours"]?.integer, fields["minutes"] == nil else { return }
  ///       fields["minutes"] = .integer(hours * 60)
  ///       fields["hours"] = nil
  ///     }
  ///
  /// - Parameters:
  ///   - fields: the names of the existing fields that `body` may change or remove.
  ///   - body: changes the fields. It may run each time a record is read, so it must always give the same result for
  ///     the same fields. If it throws, the migration fails.
  public static func custom(
    replacing fields: [String] = [], _ body: @escaping @Sendable (inout Fields) throws -> Void
  ) -> ValueMigration {
    ValueMigration(kind: .custom(replacing: fields, body))
  }
}

extension ValueMigration {
  func apply(to fields: inout Fields) throws {
    switch kind {
    case .rename(let name, let newName):
      guard fields[newName] == nil, let value = fields[name] else { return }
      fields[name] = nil
      fields[newName] = value
    case .fill(let name, let value): if fields[name] == nil { fields[name] = value }
    case .convert(let name, let transform):
      if let value = try fields[name].flatMap(transform) { fields[name] = value }
    case .custom(let replaced, let body):
      let before = fields
      try body(&fields)
      for entry in before.dictionary where !replaced.contains(entry.key) {
        guard fields[entry.key] ?? entry.value == entry.value else { throw OverwrittenField(name: entry.key) }
        fields[entry.key] = entry.value
      }
    }
  }

  /// The fields that the step may remove.
  var formerNames: [String] {
    switch kind {
    case .rename(let name, _): [name]
    case .fill, .convert: []
    case .custom(let replaced, _): replaced
    }
  }
}

/// A step changed a field that it does not declare.
private struct OverwrittenField: Error, CustomStringConvertible {
  let name: String

  var description: String { "a step changes the field '\(name)', which it does not name under `replacing`" }
}
