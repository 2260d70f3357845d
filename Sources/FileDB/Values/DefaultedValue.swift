import FileDBPlist
import FileDBTables

/// A type of values with defaults: if a record lacks a field, the field is read from a prototype.
///
/// ```swift
/// struct Note: DefaultedValue {
///   var title: String
///   var isDone = false
///
///   static let defaults = Note(title: "")
/// }
/// ```
///
/// Swift's own `Decodable` requires every field that is not optional, even if the property has a default. So without
/// this protocol, a record without `isDone` could not be read, for example one that somebody made by hand or with
/// `filedb add notes title=x`.
///
/// Whoever reads the field or asks for it gets the default: values, closures, a ``RecordPredicate``, a ``SortKey``, a
/// search, a lookup. The default is not stored until the field changes. So if you change the prototype, existing
/// records without the field get the new default. ``StoredRecord/fields``, `record["field"]` and tables of ``Fields``
/// show only what is stored.
///
/// Defaults are for whole fields of the record. If a field holds a dictionary, missing keys in it are not filled in. An
/// optional property stays `nil` if its field is missing, even if the prototype has a value, since that is how `nil` is
/// stored. If the type's own `init(from:)` has another value for a missing field, it gets that value.
public protocol DefaultedValue: Codable, Sendable {
  /// A value from which missing fields are taken. FileDB reads this once.
  static var defaults: Self { get }
}

extension DefaultedValue {
  /// The defaults that the type uses for missing fields.
  /// - Throws: the errors of encoding the prototype.
  static func defaultFields() throws -> Fields {
    let prototype = try FieldsEncoder.encodeWithoutVersion(defaults).normalized(limits: PlistLimits())
    var result = prototype
    for entry in prototype.dictionary {
      var others = prototype
      others[entry.key] = nil
      // If the type requires the field, the prototype's value is used.
      guard let value = try? Self.unmigrated(EncodedRecord(id: 1, fields: others)) else { continue }
      result[entry.key] = try FieldsEncoder.encodeWithoutVersion(value)[entry.key]
    }
    return result
  }
}
