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
      return .json(
        try (isWanted ? site.repair(request.tableName) : site.repairPlan(for: request.tableName)).json)
    },
  ]

  /// What a repair would do. The journal comes first, because the tables depend on it.
  private func repairPlan(for table: String) throws -> RepairOutcome {
    if let journal = try store.journalRepairPlan() {
      return RepairOutcome(notes: journal.notes, lost: journal.lostCount)
    }
    let plan = try store.repairPlan(for: table)
    return RepairOutcome(
      notes: plan.notes, before: tables.lastSeen(table)?.count, kept: plan.recordCount, lost: plan.lostCount)
  }

  private func repair(_ table: String) throws -> RepairOutcome {
    if let journal = try store.repairJournal() {
      return RepairOutcome(
        notes: journal.notes, lost: journal.lostCount, backups: [journal.backup].compactMap { $0?.path })
    }
    let report = try repairFile(of: table)
    return RepairOutcome(
      notes: report.notes, kept: report.recordCount, lost: report.lostCount,
      backups: report.backups.map(\.path))
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
}

/// What a repair does, or did.
private struct RepairOutcome {
  /// A sentence for each thing that is repaired.
  let notes: [String]
  /// The number of records that the table had when a page last saw it.
  var before: Int?
  /// The number of records that the table has afterwards; `nil` for a repair of the journal.
  var kept: Int?
  /// The number of pieces that cannot be read.
  let lost: Int
  /// The files that keep what was there before.
  var backups: [String] = []

  var json: JSON {
    .object([
      ("notes", .array(notes.map(JSON.string))), ("before", JSON(before)), ("kept", JSON(kept)),
      ("lost", .number(lost)),
      ("backups", .array(backups.map(JSON.string))),
    ])
  }
}
