import FileDBTables

extension FieldReference {
  /// The field in which `Value` stores what is at `path`, whatever its `CodingKeys` call it.
  ///
  /// The type itself says so: it decodes a made-up record, and then others in which one field differs. The field that
  /// is always what the property is, and changes it, is the one.
  /// - Returns: `nil` if that cannot be told: for a computed property, and for a type that refuses made-up fields.
  package init?<Value: Decodable, Field: Equatable>(of path: KeyPath<Value, Field>) {
    guard let base = ProbedValue<Value>() else { return nil }
    let others = base.scalars.compactMap { ProbedValue<Value>(altering: $0) }
    func isStored(in names: [String]) -> Bool {
      func holds(_ probed: ProbedValue<Value>) -> Bool {
        probed.decoded[names] as? Field == probed.value[keyPath: path]
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
  /// The fields of a value that is made up; `nil` for a type that refuses that.
  init?<Value: Codable>(probing type: Value.Type) {
    guard let probed = ProbedValue<Value>(), let fields = try? FieldsEncoder.encodeUnmarked(probed.value)
    else {
      return nil
    }
    self = fields
  }
}

/// A value of a type, decoded from fields that are made up as the type asks for them.
private struct ProbedValue<Value: Decodable> {
  let value: Value
  /// What was decoded on the way, each by the names that lead to it.
  let decoded: [[String]: Any]
  /// The names that lead to what has no fields of its own.
  let scalars: [[String]]

  /// - Parameter altered: the names of a scalar that is another one than usual.
  /// - Returns: `nil` if the type refuses what is made up.
  init?(altering altered: [String]? = nil) {
    let probe = FieldProbe(ValueForm(Value.self), altering: altered)
    guard let value = try? Value(from: ProbeDecoder(probe: probe, codingPath: [])) else { return nil }
    (self.value, decoded, scalars) = (value, probe.decoded, probe.scalars)
  }
}
