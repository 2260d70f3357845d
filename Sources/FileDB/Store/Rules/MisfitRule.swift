/// The names of the rules about other records, which a record may have broken before a write; see
/// ``TransactionState/formerMisfits``.
enum MisfitRule {
  static func unique(_ names: [String]) -> String { "unique \(names.joined(separator: ", "))" }
  static func reference(_ name: String) -> String { "reference \(name)" }
}
