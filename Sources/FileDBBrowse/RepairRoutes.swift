import FileDB

extension Site {
  static let repairRoutes: [Route] = [
    .get("api", "tables", "*", "check") { site, request in
      let findings = try [site.store.checkJournal()].compactMap(\.self) + site.store.check(request.tableName)
      let problems = findings.map { finding in
        JSON.object([
          ("message", .string(finding.error.message)), ("line", JSON(finding.error.line)),
          ("id", JSON(finding.error.record?.description)), ("field", JSON(finding.error.field)),
          ("damage", .bool(finding.severity == .damage)),
        ])
      }
      return .json(.object([("problems", .array(problems))]))
    },
    .post("api", "tables", "*", "repair") { site, request in
      struct Repair: Decodable { let apply: Bool }
      let isWanted = try request.decoded(as: Repair.self).apply
      let report = try isWanted ? site.repair(request.tableName) : site.repairPlan(for: request.tableName)
      return .json(.object([("report", .string(report.joined(separator: "\n")))]))
    },
  ]

  /// What a repair would do, with a sentence on each line. The journal comes first, because the tables depend on it.
  private func repairPlan(for table: String) throws -> [String] {
    if let journal = try store.journalRepairPlan() {
      return Self.lines(journal.notes, lost: journal.lostCount)
    }
    let plan = try store.repairPlan(for: table)
    return Self.lines(plan.notes, lost: plan.lostCount)
  }

  private func repair(_ table: String) throws -> [String] {
    if let journal = try store.repairJournal() {
      return Self.lines(journal.plan.notes, lost: journal.plan.lostCount)
        + ["The journal as it was is kept as \(journal.backup.path)."]
    }
    let report = try repairFile(of: table)
    return Self.lines(report.plan.notes, lost: report.plan.lostCount)
      + report.backups.map { "The original is kept as \($0.path)." }
  }

  /// Pages are told of the change before the repair returns. If the table becomes as it was before it broke, there is
  /// no change to tell.
  private func repairFile(of table: String) throws -> RepairReport {
    let before = tables.lastSeen(table)
    ownWrites.expectChanges(of: [table])
    do {
      let report = try store.repair(table)
      let after = try store.table(table).snapshot()
      if report.backups.isEmpty || before.map({ WatchedTables.areSame($0, after) }) ?? after.isEmpty {
        ownWrites.forget([table])
      }
      try store.checkpoint()
      return report
    } catch {
      ownWrites.forget([table])
      throw error
    }
  }

  private static func lines(_ notes: [String], lost: Int) -> [String] {
    if notes.isEmpty, lost == 0 { return ["There is nothing to repair."] }
    return notes + (lost == 0 ? [] : ["Pieces that cannot be read, and stay in the backup alone: \(lost)."])
  }
}
