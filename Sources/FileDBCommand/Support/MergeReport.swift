import FileDB
import FileDBExchange

/// What a person must know about a merge. Values are printed in full: what the merged table lacks is found only here
/// and in the other side's file.
struct MergeReport {
  /// What was merged. It decides what happens to a conflict.
  enum Kind {
    case files, installation
    /// A copy that a sync service made of a table.
    case copy
    /// A table of a store, where conflicts can be settled later.
    case table

    fileprivate var deletedByOurs: String {
      switch self {
      case .files, .copy, .table: "it is kept as theirs has it"
      case .installation: "it stays deleted"
      }
    }

    fileprivate func closing(_ conflicts: [MergeConflict]) -> String {
      switch self {
      case .files: "the file can be used as it is"
      case .copy:
        (["ours is what the table has, theirs what the copy had"] + Self.help(conflicts)).joined(
          separator: ". ")
      case .table: (["the file can be used as it is"] + Self.help(conflicts)).joined(separator: ". ")
      case .installation: "ours is what the user has, theirs what is shipped"
      }
    }

    private static func help(_ conflicts: [MergeConflict]) -> [String] {
      let ofRules = conflicts.count { if case .rule = $0.kind { true } else { false } }
      let ofSides = conflicts.count - ofRules
      return (ofSides > 0 ? ["'filedb conflicts list' shows them, 'filedb conflicts take' settles them"] : [])
        + (ofRules > 0 ? ["'filedb check' names the records that do not keep the schema"] : [])
    }
  }

  let name: String
  let kind: Kind

  func lines(renumbered: [MergeRenumbering], conflicts: [MergeConflict]) -> [String] {
    renumbered.map { line($0) } + conflicts.flatMap { lines($0) } + closing(conflicts)
  }

  private func line(_ renumbering: MergeRenumbering) -> String {
    let side = renumbering.side == .ours ? "our" : "their"
    return "\(name): \(side) record \(renumbering.oldID) is record \(renumbering.newID) now"
  }

  func lines(_ conflict: MergeConflict) -> [String] {
    let place = conflict.record.map { "\(name): record \($0)" } ?? name
    switch conflict.kind {
    case .field(let field, let base, let ours, let theirs):
      let former = base.map { ["  base:   \(text($0))"] } ?? []
      return ["CONFLICT \(place): both sides changed '\(field)'; ours is kept"] + former
        + ["  ours:   \(text(ours))", "  theirs: \(text(theirs))"]
    case .deletedByOurs(let base, let theirs):
      return ["CONFLICT \(place): ours deleted it, theirs changed it; \(kind.deletedByOurs)"]
        + both("theirs", theirs, since: base)
    case .rule(let field, let message):
      return ["CONFLICT \(place): '\(field)' does not keep the schema: \(message)"]
    case .order(let ours, let theirs):
      return [
        "CONFLICT \(place): both sides put the records in another order; ours is kept",
        "  ours:   \(text(ours))",
        "  theirs: \(text(theirs))",
      ]
    case .deletedByTheirs(let base, let ours):
      return ["CONFLICT \(place): theirs deleted it, ours changed it; it is kept as ours has it"]
        + both("ours", ours, since: base)
    }
  }

  private func both(_ side: String, _ record: Fields, since base: Fields) -> [String] {
    let label = "  \(side):"
    let space = String(repeating: " ", count: label.count - "  base:".count + 1)
    return ["  base:\(space)\(text(.dict(base.dictionary)))", "\(label) \(text(.dict(record.dictionary)))"]
  }

  private func text(_ order: [AnyRecordID]) -> String {
    let first = order.prefix(10).map(\.description).joined(separator: " ")
    return order.count > 10 ? "\(first) and so on" : first
  }

  private func text(_ value: PlistValue?) -> String { value.map(JSONText.value) ?? "(no such field)" }

  private func closing(_ conflicts: [MergeConflict]) -> [String] {
    let count = conflicts.count
    guard count > 0 else { return [] }
    return ["\(name): \(count.counted("conflict")); \(kind.closing(conflicts))"]
  }
}
