import FileDBPlist
import FileDBTables
import Synchronization

/// How a type reads records that lack some of its fields or are of an earlier version. Every question about a record of
/// a typed table is asked of this form of it.
///
/// For all other types it is nothing, and costs nothing.
struct ValueForm: Sendable {
  // A class: so a form is one reference, and nothing for most types.
  fileprivate final class Rules: Sendable {
    let migrations: ValueMigrations?
    let defaults: Fields?
    /// Why the defaults cannot be used.
    let fault: StoreError?

    init(migrations: ValueMigrations?, defaults: Result<Fields, StoreError>?) {
      self.migrations = migrations
      switch defaults {
      case nil: (self.defaults, fault) = (nil, nil)
      case .success(let fields)?: (self.defaults, fault) = (fields, nil)
      case .failure(let error)?: (self.defaults, fault) = (nil, error)
      }
    }
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

  /// The same, or the record as it is stored if there is no way to its newest version.
  func newestOrStored(_ record: EncodedRecord) -> EncodedRecord { (try? newest(record)) ?? record }

  /// The fields of a new value, with the mark of its version.
  func marked(_ fields: Fields) throws(StoreError) -> Fields {
    guard let migrations else { return fields }
    return try migrations.marked(fields)
  }
}

extension ValueForm.Rules {
  fileprivate convenience init(
    _ versioned: (any VersionedValue.Type)?, _ defaulted: (any DefaultedValue.Type)?
  ) {
    let migrations = versioned.map { type in
      ValueMigrations(type.migrations) { record in (try? type.unmigrated(record)) != nil }
    }
    let defaults = defaulted.map { type in
      Result { try type.defaultFields() }.mapError { error in
        StoreError(.invalidValue, "the defaults of its type cannot be stored: \(error)")
      }
    }
    self.init(migrations: migrations, defaults: defaults)
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
