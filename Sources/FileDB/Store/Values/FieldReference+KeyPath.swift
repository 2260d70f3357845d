import FileDBTables

extension FieldReference {
  /// The field in which `Value` stores the property at `path`, whatever name its `CodingKeys` use.
  ///
  /// It is found by decoding: the type decodes a made-up record, and then records in which one field differs. The right
  /// field always has the property's value, and changing it changes the property.
  /// - Returns: `nil` if this does not work: for a computed property, or for a type that refuses made-up fields.
  package init?<Value: Decodable, Field: Equatable>(of path: KeyPath<Value, Field>) {
    guard let base = ProbedValue<Value>() else { return nil }
    let others = base.scalars.compactMap { ProbedValue<Value>(altering: $0) }
    func isStored(in names: [String]) -> Bool {
      func holds(_ probed: ProbedValue<Value>) -> Bool {
        let decoded = probed.decoded[names]
        // The property of an `@ExactDate` is a plain date.
        let field = decoded as? Field ?? (decoded as? ExactDate)?.wrappedValue as? Field
        return field == probed.value[keyPath: path]
      }
      return holds(base) && others.allSatisfy(holds)
        && others.contains { $0.value[keyPath: path] != base.value[keyPath: path] }
    }
    let fields = base.decoded.keys.filter(isStored)
    guard fields.count == 1, let names = fields.first else { return nil }
    self = .path(names.map(FieldName.init))
  }
}

extension Fields {
  /// The fields of a made-up value; `nil` for a type that refuses made-up fields.
  init?<Value: Codable>(probing type: Value.Type) {
    guard let probed = ProbedValue<Value>(), let fields = try? FieldsEncoder.encodeUnmarked(probed.value)
    else {
      return nil
    }
    self = fields
  }
}

/// A value that was decoded from made-up fields.
private struct ProbedValue<Value: Decodable> {
  let value: Value
  /// The values that were decoded on the way, by the names that lead to them.
  let decoded: [[String]: Any]
  /// The names that lead to values without fields of their own.
  let scalars: [[String]]

  /// - Parameter altered: the names of a scalar that gets an unusual value.
  /// - Returns: `nil` if the type refuses made-up values.
  init?(altering altered: [String]? = nil) {
    let probe = FieldProbe(ValueForm(Value.self), altering: altered)
    guard let value = try? Value(from: ProbeDecoder(probe: probe, codingPath: [])) else { return nil }
    (self.value, decoded, scalars) = (value, probe.decoded, probe.scalars)
  }
}
