import FileDB
import FileDBEssentials
import FileDBTables

/// A table in the base, which is the copy of all tables that a new machine starts from.
struct EtcdTable: Sendable {
  let key: TableKey
  /// The pieces of the table's file. `nil` for a dropped table.
  let file: File?
  let counter: Int64
  let count: Int

  struct File: Sendable {
    let id: String
    let byteCount: Int
  }
}

extension EtcdTable {
  /// Reads a line `NAME COUNTER COUNT ID BYTES`, or `NAME COUNTER` for a dropped table.
  init?(_ line: some StringProtocol) {
    let words = line.split(separator: " ")
    guard words.count == 2 || words.count == 5,
      let name = PercentEncoding.decode(words[0].utf8),
      let counter = Int64(words[1]), counter >= 0
    else { return nil }
    (key, self.counter) = (TableKey(name), counter)
    if words.count == 2 {
      (file, count) = (nil, 0)
    } else {
      // Each record takes more than a byte.
      guard let count = Int(words[2]), let bytes = Int(words[4]), 0 <= count, count <= bytes,
        EtcdCommit.byteCounts.contains(bytes)
      else { return nil }
      (file, self.count) = (File(id: String(words[3]), byteCount: bytes), count)
    }
  }

  var line: String {
    let start = "\(PercentEncoding.encode(key.text)) \(counter)"
    return file.map { "\(start) \(count) \($0.id) \($0.byteCount)\n" } ?? "\(start)\n"
  }
}

/// The tables of the base, and the state of the log when they were read.
struct EtcdBase: Sendable {
  let state: EtcdState
  let tables: [EtcdTable]
}

// MARK: - Reading

extension EtcdLog {
  func base() throws(StoreError) -> EtcdBase {
    let (state, ranges) = try look([EtcdRange(keys.tables)])
    let lines = (ranges[0].first?.text ?? "").split(separator: "\n")
    let tables = lines.compactMap { EtcdTable($0) }
    guard tables.count == lines.count, Set(tables.map(\.key)).count == tables.count else {
      throw StoreError(
        .damagedJournal, "etcd's key '\(keys.tables)' does not contain a list of tables")
    }
    return EtcdBase(state: state, tables: tables)
  }

  func state(of table: EtcdTable, as revision: Int64) throws(StoreError) -> TableState {
    guard let file = table.file else { return TableState(counter: table.counter) }
    let key = keys.pieces(of: file.id)
    let bytes = try bytes(under: key, count: file.byteCount, as: revision)
    return try TableFile.decode(bytes, file: key, table: table.key.text, limits: limits)
  }

  package func base(of table: TableKey, unless known: TableVersion?) throws(StoreError) -> TableVersion? {
    let base = try base()
    let number = Int(begin(base.state))
    if known?.lineage == number { return nil }
    let found = base.tables.first { $0.key == table }
    return TableVersion(
      state: try found.map { found throws(StoreError) in
        try state(of: found, as: base.state.revision)
      }
        ?? TableState(),
      lineage: number, through: base.state.base.sequence)
  }

  package func bases(
    _ take: (TableKey, TableState) throws(StoreError) -> Void
  ) throws(StoreError) -> FollowedCommit {
    let base = try base()
    for table in base.tables { try take(table.key, state(of: table, as: base.state.revision)) }
    return base.state.base.followed
  }

  package func tables() throws(StoreError) -> Set<TableKey> { Set(try existence().filter(\.value).keys) }

  package func droppedTables() throws(StoreError) -> Set<TableKey> {
    Set(try existence().filter { !$0.value }.keys)
  }

  /// Each table that exists, or was dropped, and whether it exists.
  private func existence() throws(StoreError) -> [TableKey: Bool] {
    while true {
      let base = try base()
      var tables = Dictionary(uniqueKeysWithValues: base.tables.map { ($0.key, $0.file != nil) })
      let isComplete = try forEachCommit(after: base.state.base.sequence) { commit in
        for change in commit.changes {
          switch change.change {
          case .create: tables[change.table] = true
          case .drop: tables[change.table] = false
          default: break
          }
        }
      }
      if isComplete { return tables }
    }
  }

  /// Calls `body` with each commit after `sequence`.
  /// - Returns: false if another machine has renewed the base and forgotten some of them in the meantime.
  func forEachCommit(
    after sequence: UInt64, _ body: (LoggedCommit) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    var last = sequence
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      if last < news.state.start.sequence { return false }
      for commit in try commits(news) {
        try body(commit)
        last = commit.sequence
      }
      if last >= news.state.head.sequence { return true }
    }
  }
}

// MARK: - Writing

extension EtcdLog {
  /// Brings the base up to the newest commit. It writes only the tables that have changed since the last time.
  /// - Returns: the state before; `nil` if another machine has just done the same.
  func renewBase() throws(StoreError) -> EtcdState? {
    let old = try base()
    var changed: [TableKey: TableState] = [:]
    let present = Dictionary(uniqueKeysWithValues: old.tables.map { ($0.key, $0) })
    var end = old.state.base
    let isComplete = try forEachCommit(after: end.sequence) { commit throws(StoreError) in
      for change in commit.changes {
        if changed[change.table] == nil {
          changed[change.table] = try present[change.table].map { table throws(StoreError) in
            try state(of: table, as: old.state.revision)
          }
        }
        try changed[change.table, default: TableState()].apply(change)
      }
      end = EtcdCommitReference(sequence: commit.sequence, token: commit.token)
    }
    guard isComplete else { return nil }
    if end.sequence == old.state.base.sequence { return old.state }

    let kept = old.tables.filter { changed[$0.key] == nil }
    let drafts = changed.sorted { $0.key < $1.key }.map { EtcdTableDraft($1, of: $0) }
    let lines = Array((kept + drafts.map(\.table)).sorted { $0.key < $1.key }.map(\.line).joined().utf8)
    guard lines.count <= Self.partBytes else {
      throw StoreError(
        .unrepresentableValue,
        "the list of \(kept.count + drafts.count) tables is too long for one value in etcd")
    }
    try checkSpace(for: drafts.reduce(0) { $0 + $1.bytes.count })
    do throws(StoreError) {
      for draft in drafts {
        if let file = draft.table.file { try write(draft.bytes, under: keys.pieces(of: file.id)) }
      }
    } catch {
      try? removePieces(of: drafts.map(\.table))
      throw error
    }
    let answer = try explaining { () throws(EtcdFailure) in
      try client.change(
        EtcdTransaction(
          compare: [.unchanged(keys.base, since: old.state.base.revision)],
          success: [.put(keys.base, end.value), .put(keys.tables, lines)]))
    }
    let gone = answer.isMet ? old.tables.filter { changed[$0.key] != nil } : drafts.map(\.table)
    try removePieces(of: gone)
    return answer.isMet ? old.state : nil
  }

  private func removePieces(of tables: [EtcdTable]) throws(StoreError) {
    for file in tables.compactMap(\.file) {
      _ = try asking([.delete(EtcdRange(under: keys.pieces(of: file.id)))])
    }
  }
}

/// A table for the next base, and the bytes of its file.
private struct EtcdTableDraft {
  let table: EtcdTable
  let bytes: [UInt8]

  init(_ state: TableState, of key: TableKey) {
    bytes = state.exists ? TableFile.encode(state) : []
    table = EtcdTable(
      key: key,
      file: state.exists ? EtcdTable.File(id: CommitToken.random().text, byteCount: bytes.count) : nil,
      counter: state.counter, count: state.exists ? state.records.count : 0)
  }
}
