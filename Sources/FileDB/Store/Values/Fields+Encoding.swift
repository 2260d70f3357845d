import FileDBPlist
import FileDBTables

extension Fields {
  /// Fields with these names and values, which need not be literals.
  ///
  ///     try things.add(Fields(encoding: ["name": name, "watts": watts, "bought": Date.now]))
  ///
  /// A value may be of any type that the property of a record may have; see <doc:Values>. A name whose value is `nil`
  /// is left out. If a name is given twice, the last value counts.
  /// - Throws: ``StoreError/Code/invalidValue`` with the field, if a value holds `nil` in an array or throws while it is
  ///   encoded.
  public init(encoding values: KeyValuePairs<String, any Encodable>) throws {
    self.init()
    for (name, value) in values {
      do { self[name] = try FieldsEncoder.encodeValue(value, codingPath: [AnyKey(name)]) } catch {
        var error = StoreError(encoding: error)
        error.field = error.field ?? name
        throw error
      }
    }
  }
}
