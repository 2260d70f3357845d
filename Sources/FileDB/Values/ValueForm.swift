import FileDBPlist
import FileDBTables
import Synchronization

/// How a type reads records that lack some of its fields or are of an earlier version. All code that reads a record of
/// a typed table uses this.
///
/// For types without versions and defaults, it is empty and costs nothing.
struct ValueForm: Sendable {
  // A class, so that a form is a single reference, which is `nil` for most types.
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
    // Not while holding the lock, because the type's own code may read records.
    let rules = Rules(versioned, defaulted)
    self.rules = rules
    Self.known.withLock { $0[key] = rules }
  }

  /// Whether records are read as they are stored.
  var isPlain: Bool { rules == nil }

  var migrations: ValueMigrations? { rules?.migrations }

  /// Makes the object that reads the fields of records.
  func makeFields() -> RecordFields { RecordFields(defaults: rules?.defaults) }

  /// The default for a field that a record lacks.
  func defaultValue(of field: String) -> PlistValue? { rules?.defaults?[field] }

  /// The record in its type's newest version. Its fields do not include defaults: ``makeFields()`` adds these.
  /// - Throws: as ``ValueMigrations/newest(_:)``, with the record's id; an error in the defaults.
  func newest(_ record: EncodedRecord) throws(StoreError) -> EncodedRecord {
    guard let rules else { return record }
    if let fault = rules.fault { throw fault }
    guard let migrations = rules.migrations else { return record }
    do { return try migrations.newest(record) } catch { throw error.adding(record: record.id) }
  }

  /// The same, or the stored record if it cannot be migrated.
  func newestOrStored(_ record: EncodedRecord) -> EncodedRecord { (try? newest(record)) ?? record }

  /// The fields of a new value, with its version.
  func addingVersion(to fields: Fields) throws(StoreError) -> Fields {
    guard let migrations else { return fields }
    return try migrations.addingVersion(to: fields)
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
    // Needed if the value has kept its decoder.
    defer { if !isKnownUniquelyReferenced(&fields) { fields.keep(record) } }
    return try fields.read(record) { try Self(from: RecordDecoder(fields: fields)) }
  }
}
