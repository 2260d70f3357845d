import FileDBPlist
import FileDBTables

/// A problem that ``RecordStore/check(_:)`` or ``RecordStore/checkJournal()`` found.
public struct CheckFinding: Sendable, CustomStringConvertible {
  /// How serious a finding is.
  public enum Severity: Sendable {
    /// The table cannot be used until it is repaired.
    case damage
    /// The table can be used. The next write to it may change what the finding names.
    case warning
  }

  /// How serious it is.
  public let severity: Severity
  /// What was found, with file and line.
  public let error: StoreError

  public var description: String { error.description }
}

extension RecordStore {
  /// Checks the table's file; if this store has no such file, that of the attached store. FileDB checks that:
  ///
  /// - the file is a well-formed property list without comments
  /// - each record has an id of its own
  /// - the counter is high enough, and the index map fits
  /// - the commits in the journal belong to this file
  /// - the records keep the table's schema; each field that does not is a warning
  /// - Returns: the findings, in the order of the file; empty for a table without problems.
  /// - Throws: the disk's errors, ``StoreError/Code/tableNotFound``, ``StoreError/Code/invalidTableName``.
  /// - Complexity: O(*n*) in the size of the file.
  public func check(_ table: String) throws -> [CheckFinding] {
    do {
      let log = try fileLog
      // Before the file, since a checkpoint moves the commits from the journal to the file. A damaged journal is a
      // separate finding: see `checkJournal`.
      let isPending = (try? log.readOn()) != nil && log.pendingTable(TableKey(table)) != nil
      let (file, content) = try folder.readFile(of: TableKey(table), limits: options.limits)
      var findings: [CheckFinding] = []
      if let content {
        findings = try TableFile.findings(
          in: content.bytes, file: file, table: table, limits: options.limits)
      }
      if isPending {
        _ = try log.readUntilStable(TableKey(table))
      } else if content == nil {
        findings = try checkBeneath(table)
      }
      // This lays it over the attached table, if there is one.
      try view.read(TableKey(table))
      let seen = try view.seen(TableKey(table), own: log.readUntilStable(TableKey(table)).state)
      return try findings + schemaFindings(of: TableKey(table), seen, in: content.map { (file, $0.bytes) })
    } catch let error as StoreError where Self.damage.contains(error.code) {
      return [CheckFinding(severity: .damage, error: error)]
    }
  }

  /// Checks an attached table for which the store has no file.
  private func checkBeneath(_ table: String) throws -> [CheckFinding] {
    for source in view.sources(of: TableKey(table)) {
      let (file, content) = try source.folder.readFile(of: source.table, limits: options.limits)
      guard let content else { continue }
      return try TableFile.findings(
        in: content.bytes, file: file, table: source.table.text, limits: options.limits)
    }
    throw StoreError(.tableNotFound, "there is no such table", table: table)
  }

  /// Checks the journal, from its beginning.
  /// - Returns: the damage, or a warning if the journal comes from another machine; `nil` for a sound journal, and if
  ///   there is none.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*n*) in the size of the journal.
  public func checkJournal() throws -> CheckFinding? {
    do throws(StoreError) {
      let log = try fileLog
      _ = try log.waitingCommits()
      try log.readOn()
      if let fault = log.numberFault { return CheckFinding(severity: .damage, error: fault) }
      return log.isOfAnotherMachine ? CheckFinding(severity: .warning, error: log.machineWarning) : nil
    } catch  where Self.damage.contains(error.code) {
      return CheckFinding(severity: .damage, error: error)
    }
  }

  /// The files in the folder that look like tables, but were made by editors, merge tools and sync services.
  package var strayFiles: [StrayFile] { get throws { try visibleFolder?.strayFiles() ?? [] } }

  private static let damage = tableDamage.union([
    StoreError.Code.ambiguousTable, StoreError.Code.damagedJournal, StoreError.Code.newerFormat,
    // These occur if a table does not fit the attached one.
    StoreError.Code.duplicateID, StoreError.Code.counterExhausted,
  ])

  /// Errors that prevent reading a table, but not replacing it.
  static let tableDamage: Set = [
    StoreError.Code.notATable, StoreError.Code.damagedTable, StoreError.Code.conflictMarkers,
    StoreError.Code.conflict,
  ]
}

extension FileLog {
  fileprivate var machineWarning: StoreError {
    StoreError(
      .sharedJournal,
      "the journal comes from another machine; the next write begins a new one with the commits that wait. If a service "
        + "copies this folder between machines, 'filedb init --own-folder' keeps the journal out of it",
      file: folder.journalFile)
  }
}

extension TableFile {
  /// What is unusual in a table that can be read.
  fileprivate static func findings(
    in bytes: [UInt8], file: String, table: String, limits: PlistLimits
  ) throws(StoreError) -> [CheckFinding] {
    let state = try decode(bytes, file: file, table: table, limits: limits)
    let parsed: (root: PlistValue, firstCommentLine: Int?)
    do { parsed = try PlistParser.inspect(bytes, limits: limits) } catch {
      throw StoreError(error, in: bytes, file: file, table: table)
    }
    var findings: [CheckFinding] = []
    func warn(_ message: String, line: Int?) {
      let error = StoreError(.damagedTable, message, file: file, line: line, table: table)
      findings.append(CheckFinding(severity: .warning, error: error))
    }
    if let line = parsed.firstCommentLine { warn("a comment; the next write removes it", line: line) }
    guard case .dict(let root) = parsed.root else { return findings }
    if let counter = root[counterKey].flatMap(number), counter.rawValue < state.counter {
      warn(
        "the counter is \(counter), but record \(state.counter) exists; \(state.counter) is used",
        line: PlistParser.line(of: [.key(counterKey)], in: bytes))
    }
    let indices = state.records.enumerated().map { index, record in
      PlistDictionary.Entry(key: record.id.description, value: .string(index.description))
    }
    if root[indexKey] != .dict(PlistDictionary(lastOf: indices)) {
      warn(
        "the index map does not fit the records; it is not used, and the next write rebuilds it",
        line: PlistParser.line(of: [.key(indexKey)], in: bytes))
    }
    return findings
  }
}
