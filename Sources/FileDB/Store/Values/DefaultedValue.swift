import FileDBPlist
import FileDBTables

/// A type of values with defaults: a field that its record lacks is read from a prototype.
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
/// Swift's own `Decodable` demands every field that is not optional, whatever default the property has. So a record
/// that somebody made by hand, or with `filedb add notes title=x`, would be unreadable without `isDone`.
///
/// A default counts for whatever reads or asks: values, closures, a ``RecordPredicate``, a ``SortKey``, a search, a
/// lookup. It is not written until the field changes. So if you change the prototype, existing records without the
/// field get the new default. ``StoredRecord/fields``, `record["field"]` and tables of ``Fields`` have what is stored.
///
/// Defaults are for whole fields of the record: a dictionary that has some of its keys is not filled up. An optional
/// property stays `nil` where its field is missing, whatever the prototype has, since that is how `nil` is stored. If
/// the type decodes itself and has its own value for a missing field, that value counts.
public protocol DefaultedValue: Codable, Sendable {
  /// A value from which missing fields are taken. FileDB reads this once.
  static var defaults: Self { get }
}

extension DefaultedValue {
  /// What the type reads in fields that a record lacks.
  /// - Throws: as encoding the prototype.
  static func defaultFields() throws -> Fields {
    let prototype = try FieldsEncoder.encodeUnmarked(defaults).normalized(limits: PlistLimits())
    var result = prototype
    for entry in prototype.dictionary {
      var others = prototype
      others[entry.key] = nil
      // Where the type cannot do without the field, the prototype's counts.
      guard let value = try? Self.unmigrated(EncodedRecord(id: 1, fields: others)) else { continue }
      result[entry.key] = try FieldsEncoder.encodeUnmarked(value)[entry.key]
    }
    return result
  }
}
