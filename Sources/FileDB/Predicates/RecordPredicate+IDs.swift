import FileDBPlist
import FileDBTables

extension RecordPredicate {
  /// - Parameter records: some or all of the table's records.
  /// - Throws: ``StoreError/Code/invalidPredicate`` if a name may mean the record's id or a field of the table.
  func checkIDs<Value: Codable>(
    as type: Value.Type, of records: some Sequence<EncodedRecord>
  ) throws(StoreError) {
    let roots = node.paths.map(\.root)
    if roots.contains(.id), type.stores("id", in: records) {
      throw StoreError(
        .invalidPredicate,
        "'id' may mean a property of \(type) or the record's id; write fields.id or recordID")
    }
    if roots.contains(.recordID), records.contains(where: { $0.field("recordID") != nil }) {
      throw StoreError(
        .invalidPredicate,
        "'recordID' may mean a field or the record's id; write #recordID or id")
    }
  }
}

extension Decodable where Self: Encodable {
  /// Whether the type stores a field with this name. `Fields` have no names of their own.
  fileprivate static func stores(_ name: String, in records: some Sequence<EncodedRecord>) -> Bool {
    if Self.self == Fields.self || Self.self == PlistValue.self { return false }
    var reader = ValueReader<Self>()
    for record in records.prefix(100) {
      guard let value = try? reader.value(of: record) else { continue }
      let fields = try? FieldsEncoder.encodeWithoutVersion(value)
      return fields?[name] != nil || FieldsEncoder.namesWithoutValue(of: value).contains(name)
    }
    return false
  }
}
