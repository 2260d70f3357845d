import FileDBEssentials

/// Forms for tables with a type.
extension RecordStore {
  /// The file of a table.
  /// - Throws: as ``url(of:)-(String)``.
  public func url<Value>(of table: TableName<Value>) throws -> URL { try url(of: table.text) }

  /// Checks a table's file; see ``check(_:)-(String)``.
  /// - Throws: as ``check(_:)-(String)``.
  public func check<Value>(_ table: TableName<Value>) throws -> [CheckFinding] {
    try check(table.text)
  }

  /// Returns what a repair would do to a table; see ``repairPlan(for:keeping:)-(String,_)``.
  /// - Throws: as ``repairPlan(for:keeping:)-(String,_)``.
  public func repairPlan<Value>(
    for table: TableName<Value>, keeping choice: ConflictChoice? = nil
  ) throws -> RepairPlan {
    try repairPlan(for: table.text, keeping: choice)
  }

  /// Repairs a table; see ``repair(_:keeping:)-(String,_)``.
  /// - Throws: as ``repair(_:keeping:)-(String,_)``.
  @discardableResult
  public func repair<Value>(
    _ table: TableName<Value>, keeping choice: ConflictChoice? = nil
  ) throws -> RepairReport {
    try repair(table.text, keeping: choice)
  }
}
