import FileDBPlist
import FileDBTables
import Synchronization

/// How a type reads records that lack some of its fields or are of an earlier version. Every question about a record of
/// a typed table is asked of this form of it.
///
/// For all other types it is nothing, and costs nothing.
struct ValueForm: Sendable {
  fileprivate struct Rules: Sendable {
    var migrations: ValueMigrations?
    var defaults: Fields?
    /// Why the defaults cannot be used.
    var fault: StoreError?
  }

  private static let known = Mutex<[ObjectIdentifier: Rules]>([:])

  private let rules: Rules?

  init(_ type: Any.Type) {
    let versioned = type as? any VersionedValue.Type
    let defaulted = type as? any DefaultedValue.Type
    guard versioned != nil || defaulted != nil else {
      rules = nil
      return
    }
    let key = ObjectIdentifier(type)
    if let rules = Self.known.withLock({ $0[key] }) {
      self.rules = rules
      return
    }
    // Not under the lock: the type's own code may read records.
    let rules = Rules(versioned, defaulted)
    self.rules = rules
    Self.known.withLock { $0[key] = rules }
  }

  /// Whether records are read as they are stored.
  var isPlain: Bool { rules == nil }

  var migrations: ValueMigrations? { rules?.migrations }

  /// What to read records with.
  func makeFields() -> RecordFields { RecordFields(defaults: rules?.defaults) }

  /// What is read in a field that a record lacks.
  func defaultValue(of field: String) -> PlistValue? { rules?.defaults?[field] }

  /// The record as of its type's newest version. Defaults are not among its fields: ``makeFields()`` has them.
  /// - Throws: as ``ValueMigrations/newest(_:)``, with the record's id; what is wrong with the defaults.
  func newest(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    guard let rules else { return record }
    if let fault = rules.fault { throw fault }
    guard let migrations = rules.migrations else { return record }
    do { return try migrations.newest(record) } catch { throw error.adding(record: record.id) }
  }

  /// The same, or the record as it is stored where there is no way to its newest version.
  func newestOrStored(_ record: EncodedRecord) -> EncodedRecord { (try? newest(record)) ?? record }

  /// The fields of a new value, with the mark of its version.
  func marked(_ fields: Fields) throws(StoreError) -> Fields {
    guard let migrations else { return fields }
    return try migrations.marked(fields)
  }
}

extension ValueForm.Rules {
  fileprivate init(_ versioned: (any VersionedValue.Type)?, _ defaulted: (any DefaultedValue.Type)?) {
    if let versioned {
      migrations = ValueMigrations(versioned.migrations) { record in
        (try? versioned.unmigrated(record)) != nil
      }
    }
    do { defaults = try defaulted?.defaultFields() } catch {
      fault = StoreError(.invalidValue, "the defaults of its type cannot be stored: \(error)")
    }
  }
}

extension Decodable {
  /// The value of a record without any migration or default.
  static func unmigrated(_ record: EncodedRecord) throws -> Self {
    var fields = RecordFields()
    // For a value that keeps its decoder.
    defer { if !isKnownUniquelyReferenced(&fields) { fields.keep(record) } }
    return try fields.read(record) { try Self(from: RecordDecoder(fields: fields)) }
  }
}
