import FileDB
import FileDBCluster
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
      let name = SharedAddress.decoded(Substring(words[0])),
      let counter = Int64(words[1])
    else { return nil }
    (key, self.counter) = (TableKey(name), counter)
    guard words.count == 5, let count = Int(words[2]), let bytes = Int(words[4]) else {
      (file, count) = (nil, 0)
      return
    }
    (file, self.count) = (File(id: String(words[3]), byteCount: bytes), count)
  }

  var line: String {
    let start = "\(SharedAddress.encoded(key.text, keeping: "-._~")) \(counter)"
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
    guard tables.count == lines.count else {
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

  package func base(of table: TableKey, unless known: Int?) throws(StoreError) -> TableBase? {
    let base = try base()
    let number = Int(begin(base.state))
    if known == number { return nil }
    let found = base.tables.first { $0.key == table }
    return TableBase(
      state: try found.map { found throws(StoreError) in
        try state(of: found, as: base.state.revision)
      }
        ?? TableState(),
      sequence: base.state.base.sequence, number: number, end: base.state.head.sequence)
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
    let base = try base()
    var tables = Dictionary(uniqueKeysWithValues: base.tables.map { ($0.key, $0.file != nil) })
    try forEachCommit(after: base.state.base.sequence) { commit in
      for change in commit.changes {
        switch change.change {
        case .create: tables[change.table] = true
        case .drop: tables[change.table] = false
        default: break
        }
      }
    }
    return tables
  }

  /// Calls `body` with each commit after `sequence`.
  /// - Returns: the last commit.
  @discardableResult
  func forEachCommit(
    after sequence: UInt64, _ body: (LoggedCommit) throws(StoreError) -> Void
  ) throws(StoreError) -> EtcdMark {
    var last = sequence
    while true {
      let news = try read(after: FollowedCommit(sequence: last))
      for commit in try commits(news) {
        try body(commit)
        last = commit.sequence
      }
      if news.commits.isEmpty || last == news.state.head.sequence { return news.state.head }
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
    try forEachCommit(after: end.sequence) { commit throws(StoreError) in
      for change in commit.changes {
        if changed[change.table] == nil {
          changed[change.table] = try present[change.table].map { table throws(StoreError) in
            try state(of: table, as: old.state.revision)
          }
        }
        try changed[change.table, default: TableState()].apply(change)
      }
      end = EtcdMark(sequence: commit.sequence, token: commit.token)
    }
    if end.sequence == old.state.base.sequence { return old.state }

    let new = try changed.sorted { $0.key < $1.key }.map { key, state throws(StoreError) in
      try write(state, of: key)
    }
    let all = (old.tables.filter { changed[$0.key] == nil } + new).sorted { $0.key < $1.key }
    let lines = Array(all.map(\.line).joined().utf8)
    guard lines.count <= Self.partBytes else {
      throw StoreError(
        .unrepresentableValue,
        "the list of \(all.count) tables is too long for one value in etcd")
    }
    let answer = try explaining { () throws(EtcdFailure) in
      try client.change(
        EtcdTransaction(
          compare: [.unchanged(keys.base, since: old.state.base.revision)],
          success: [.put(keys.base, end.value), .put(keys.tables, lines)]))
    }
    let gone = answer.isMet ? old.tables.filter { changed[$0.key] != nil } : new
    for file in gone.compactMap(\.file) {
      _ = try asking([.delete(EtcdRange(under: keys.pieces(of: file.id)))])
    }
    return answer.isMet ? old.state : nil
  }

  private func write(_ state: TableState, of key: TableKey) throws(StoreError) -> EtcdTable {
    guard state.exists else {
      return EtcdTable(key: key, file: nil, counter: state.counter, count: 0)
    }
    let (id, bytes) = (CommitToken.random().text, TableFile.encode(state))
    try write(bytes, under: keys.pieces(of: id))
    return EtcdTable(
      key: key, file: .init(id: id, byteCount: bytes.count), counter: state.counter,
      count: state.records.count)
  }
}
