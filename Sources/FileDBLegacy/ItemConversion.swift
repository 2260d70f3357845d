import FileDB
import Foundation

/// Converts items to records and back. Items are dictionaries of any values, as in the original.
enum ItemConversion {
  /// - Throws: ``StoreError/Code/unrepresentableValue`` if the record has two fields that the dictionary would treat as
  ///   the same.
  static func item(_ row: StoredRecord<Fields>) throws -> [String: Any] {
    do {
      var item = try dictionary(row.fields.dictionary, path: "")
      item[kMainIdKey] = row.id.description
      return item
    } catch var error as StoreError {
      error.record = row.id.plain
      throw error
    }
  }

  /// The item's fields without the id.
  /// - Throws: ``StoreError/Code/unrepresentableValue`` with the field.
  static func record(_ item: [String: Any]) throws -> Fields {
    var fields = try plistDictionary(item, path: "", depth: 0)
    fields[kMainIdKey] = nil
    return Fields(fields)
  }

  /// The id in an item; `nil` if it has none.
  /// - Throws: ``StoreError/Code/invalidValue`` if it is not a whole number.
  static func id(of item: [String: Any]) throws -> RecordID<Fields>? {
    guard let value = item[kMainIdKey] else { return nil }
    let id: RecordID<Fields>? =
      switch try plistValue(value, path: kMainIdKey, depth: 0) {
      case .string(let digits): RecordID<Fields>(digits)
      case .integer(let number): RecordID<Fields>(rawValue: number)
      default: nil
      }
    guard let id else {
      throw StoreError(
        .invalidValue, "an id is a whole number in decimal digits", field: kMainIdKey)
    }
    return id
  }

  /// - Throws: ``StoreError/Code/recordNotFound`` for a negative number.
  static func id(_ number: Int, table: String) throws -> RecordID<Fields> {
    guard let id = RecordID<Fields>(rawValue: Int64(number)) else {
      throw StoreError(.recordNotFound, "there is no record \(number)", table: table)
    }
    return id
  }
}

extension ItemConversion {
  private static func object(_ value: PlistValue, path: String) throws -> Any {
    switch value {
    case .string(let text): text
    // An NSNumber can be read with `as? Int`, `as? Double` and `as? Bool`. A Swift number can be read only as its own
    // type.
    case .integer(let number): NSNumber(value: number)
    case .unsigned(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    case .bool(let flag): NSNumber(value: flag)
    case .date(let date): date
    case .data(let data): data
    case .array(let elements): try elements.enumerated().map { try object($1, path: "\(path).\($0)") }
    case .dict(let entries): try dictionary(entries, path: path + ".")
    }
  }

  private static func dictionary(_ entries: PlistDictionary, path: String) throws -> [String: Any] {
    var result = [String: Any](minimumCapacity: entries.count)
    for entry in entries {
      let field = path + entry.key
      guard result.updateValue(try object(entry.value, path: field), forKey: entry.key) == nil else {
        throw StoreError(
          .unrepresentableValue,
          "two field names differ only in their Unicode form, so a dictionary cannot hold both; read them as `Fields`",
          field: field)
      }
    }
    return result
  }

  private static func plistDictionary(
    _ dictionary: [String: Any], path: String, depth: Int
  ) throws -> PlistDictionary {
    var result = PlistDictionary()
    for (key, value) in dictionary {
      result[key] = try plistValue(value, path: path + key, depth: depth + 1)
    }
    return result
  }

  private static func plistValue(_ value: Any, path: String, depth: Int) throws -> PlistValue {
    // A table refuses values that are nested more deeply. Here, the stack must not overflow before that.
    guard depth <= PlistLimits().depth else {
      throw StoreError(
        .unrepresentableValue, "arrays and dictionaries are nested too deep", field: path)
    }
    // Swift's numbers arrive as NSNumber, too, and NSString, NSDate and similar types as Swift's types. Arrays and
    // dictionaries come first: on Linux, testing whether one is an NSNumber costs as much as copying it.
    switch value {
    case let elements as [Any]:
      return .array(
        try elements.enumerated().map { try plistValue($1, path: "\(path).\($0)", depth: depth + 1) })
    case let entries as [String: Any]:
      return .dict(try plistDictionary(entries, path: path + ".", depth: depth))
    case let text as String: return .string(text)
    case let date as Date: return .date(date)
    case let data as Data: return .data(data)
    case let number as NSNumber: return plistValue(number)
    case let number as any BinaryFloatingPoint: return .real(Double(number))
    default:
      throw StoreError(
        .unrepresentableValue, "a property list cannot hold a value of the type \(type(of: value))",
        field: path)
    }
  }

  private static func plistValue(_ number: NSNumber) -> PlistValue {
    // There is one object for each truth value. An equal number is another object.
    if number === NSNumber(value: true) { return .bool(true) }
    if number === NSNumber(value: false) { return .bool(false) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return .real(number.doubleValue)
    case UInt8(ascii: "Q"): return PlistValue(number.uint64Value)
    default: return .integer(number.int64Value)
    }
  }
}
