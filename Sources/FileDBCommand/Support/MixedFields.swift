import FileDB
import FileDBPlist

extension TableSnapshot {
  /// Reports fields whose values have several types, with one error for each field, sorted by name. Integers and reals
  /// are both numbers. Such a field is not wrong, but often somebody gave a value without its type. Fields with a
  /// declared type are left out: the check of the rules reports values that do not fit.
  ///
  /// The error names the first record with the rarest type.
  /// - Complexity: O(*n*) in the size of the table.
  func mixedFields() -> [StoreError] {
    var kinds: [FieldName: FieldKinds<Value>] = [:]
    for record in self {
      for field in record.fields.dictionary {
        kinds[FieldName(field.key), default: FieldKinds()].see(field.value, in: record)
      }
    }
    return kinds.filter { name, kinds in kinds.isMixed && knownSchema?[name.text]?.type == nil }
      .sorted { compareUTF8($0.key.text, $1.key.text) < 0 }
      .compactMap { name, kinds in
        kinds.rarest?.error(
          .invalidValue, "the field has values of several types: \(kinds.description)", field: name.text)
      }
  }

  /// Reports a field without a name, in the first record that has one. FileDB writes none, but another program may
  /// have.
  /// - Complexity: O(*n*) in the size of the table.
  func namelessField() -> StoreError? {
    guard let record = first(where: { $0[""] != nil }) else { return nil }
    var error = StoreError(
      .invalidValue, "a field has no name; give it one: filedb field rename \(table) '' NAME", table: table)
    error.record = AnyRecordID(record.id)
    return error
  }
}

/// The types of a field's values.
private struct FieldKinds<Value: Codable & Sendable>: CustomStringConvertible {
  /// In the order in which they were found.
  private var kinds: [(name: String, count: Int, first: StoredRecord<Value>)] = []

  var isMixed: Bool { kinds.count > 1 }

  /// The first record with the rarest type.
  var rarest: StoredRecord<Value>? { kinds.min { $0.count < $1.count }?.first }

  var description: String {
    kinds.sorted { $0.count > $1.count }.map { "\($0.name) in \($0.count)" }.joined(separator: ", ")
  }

  mutating func see(_ value: PlistValue, in record: StoredRecord<Value>) {
    let name =
      switch value {
      case .integer, .unsigned, .real: "number"
      default: value.typeName
      }
    if let known = kinds.firstIndex(where: { $0.name == name }) {
      kinds[known].count += 1
    } else {
      kinds.append((name, 1, record))
    }
  }
}
