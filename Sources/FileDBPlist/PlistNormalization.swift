import FileDBEssentials

extension PlistValue {
  /// This value as the file will return it. If the file cannot hold it, this throws an error that says why.
  ///
  /// A date is cut to whole seconds, every `nan` becomes the same `nan`, and an `unsigned` becomes an `integer` if it
  /// fits.
  /// - Parameter depth: how many arrays and dictionaries enclose this value.
  /// - Throws: `unrepresentableCharacter`, `dateOutOfRange`, `tooDeep` or `valueTooLarge`.
  package func normalized(depth: Int = 0, limits: PlistLimits) throws(PlistError) -> PlistValue {
    switch self {
    case .string(let text):
      try checkXMLText(text, limits: limits)
      return self
    case .unsigned(let number): return PlistValue(number)
    case .real(let number): return number.isNaN ? .real(.nan) : self
    case .integer, .bool: return self
    case .date(let date):
      guard let second = PlistDate.wholeSecond(date) else { throw PlistError(.dateOutOfRange) }
      return .date(second)
    case .data(let data):
      guard Base64.length(of: data.count) <= limits.valueBytes else {
        throw PlistError(.valueTooLarge(limit: limits.valueBytes))
      }
      return self
    case .array(let elements):
      guard depth < limits.depth else { throw PlistError(.tooDeep(limit: limits.depth)) }
      var result: [PlistValue] = []
      result.reserveCapacity(elements.count)
      for element in elements { result.append(try element.normalized(depth: depth + 1, limits: limits)) }
      return .array(result)
    case .dict(let entries): return .dict(try entries.normalized(depth: depth, limits: limits))
    }
  }
}

extension PlistDictionary {
  /// ``PlistValue/normalized(depth:limits:)`` for a dictionary's keys and values.
  package func normalized(depth: Int = 0, limits: PlistLimits) throws(PlistError) -> PlistDictionary {
    guard depth < limits.depth else { throw PlistError(.tooDeep(limit: limits.depth)) }
    return try mapValues { (key, value) throws(PlistError) in
      try checkXMLText(key, limits: limits)
      return try value.normalized(depth: depth + 1, limits: limits)
    }
  }
}

/// Whether `text` has a byte with which a scalar that XML forbids begins: one below 0x20, or 0xEF.
private func mayContainForbiddenScalar(_ text: String) -> Bool {
  var text = text
  return text.withUTF8 { bytes in
    // Without a branch, the compiler looks at many bytes at once.
    var found: UInt8 = 0
    for byte in bytes {
      let isSpace = (byte == 0x9 ? 1 : 0) | (byte == 0xA ? 1 : 0) | (byte == 0xD ? 1 : 0) as UInt8
      found |= (byte < 0x20 ? 1 : 0) & ~isSpace | (byte == 0xEF ? 1 : 0)
    }
    return found != 0
  }
}

/// Throws `unrepresentableCharacter` if XML cannot contain `text`, and `valueTooLarge` if it is too long.
///
/// XML 1.0 §2.2 allows tab, line feed, carriage return, and everything from the space on except the surrogates, which a
/// `String` cannot contain, and U+FFFE and U+FFFF.
package func checkXMLText(_ text: String, limits: PlistLimits) throws(PlistError) {
  guard text.utf8.count <= limits.valueBytes else {
    throw PlistError(.valueTooLarge(limit: limits.valueBytes))
  }
  guard mayContainForbiddenScalar(text) else { return }
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x10000...: continue
    default: throw PlistError(.unrepresentableCharacter(scalar))
    }
  }
}
