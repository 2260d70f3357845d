import FuzzSupport

// Testable, for how a schema is read is nobody else's matter.
@testable import FileDBExchange
@testable import FileDBPlist
@testable import FileDBTables

// An input is a Frictionless Table Schema, or tells what is to be changed in a schema of FileDB.
@main enum FuzzSchema {
  static func main() { runFuzzer(test) }
}

private let sample: PlistValue = {
  var schema = TableSchema(
    version: 2,
    fields: [
      FieldSchema(
        "name", type: .string, title: "Name", isRequired: true, isUnique: true, pattern: "[a-z]{1,3}"),
      FieldSchema("n", type: .integer, allowedValues: [1, 2], minimum: 1, maximum: 9, defaultValue: 2),
      FieldSchema("parent", references: ReferenceRule("t", field: "name", onDelete: .cascade)),
      FieldSchema("x", type: .json, defaultValue: ["a": [1]]),
    ],
    unique: [["name", "n"]])
  schema.referencingTables = [TableKey("u")]
  return schema.plist
}()

private func test(_ bytes: [UInt8]) -> Bool {
  if bytes.first == UInt8(ascii: "{") {
    guard let schema = try? FrictionlessSchema.read(bytes, name: "schema") else { return true }
    if (try? schema.validate()) != nil { check(schema) }
    return true
  }
  guard let plist = sample.changed(by: bytes).dict else { return false }
  guard let schema = try? TableSchema(plist) else { return true }
  check(schema)
  return true
}

/// A schema is the same when it is written and read again, in FileDB's form, in XML and as Frictionless.
private func check(_ schema: TableSchema) {
  do {
    let document = try PlistWriter.document(schema.plist)
    guard case .schema(let again) = SchemaDeclaration(try PlistParser.parse(document)) else {
      fail("refused: \(schema.plist)")
    }
    if again != schema { fail("\(schema)\nread again: \(again)") }
    if again.plist != schema.plist { fail("\(schema.plist)\nthen: \(again.plist)") }
  } catch let error as PlistError {
    // JSON can hold control characters, and nothing is too long or too deep for it.
    guard schema.plist.isRefused else { fail("\(error)") }
  } catch {
    fail("\(error)")
  }
  checkFrictionless(schema)
  for pattern in schema.fields.compactMap(\.pattern) {
    for text in ["", "a", "abc", pattern] { _ = try? TextPattern(pattern).matches(text) }
  }
}

private func checkFrictionless(_ schema: TableSchema) {
  let text = FrictionlessSchema.text(of: schema)
  do {
    let again = try FrictionlessSchema.read(Array(text.utf8), name: "schema")
    let (then, once) = (FrictionlessSchema.text(of: again), text)
    if !then.utf8.elementsEqual(once.utf8) { fail("\(once)\nthen: \(then)") }
  } catch {
    fail("\(error) in: \(text)")
  }
}

extension PlistValue {
  fileprivate var isRefused: Bool { (try? normalized(limits: PlistLimits())) == nil }
}
