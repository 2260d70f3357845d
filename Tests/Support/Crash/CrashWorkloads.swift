import FileDB
import FileDBStorage

extension CrashWorkload {
  /// One of each kind. Small, since what a power cut can do to a store follows from two or three commits.
  package static let all = [
    CrashWorkload("add", steps: [.commit(add("a", 1)), .commit(add("a", 2)), .commit(add("a", 3))]),
    CrashWorkload(
      "move",
      steps: [
        .commit { tx in try tx["a"].add(contentsOf: [["n": 1], ["n": 2], ["n": 3]]) },
        .commit { tx in try tx["a"].move(3, to: .top) },
        .commit { tx in try tx["a"].move(1, to: .bottom) },
      ]),
    CrashWorkload(
      "sort",
      steps: [
        .commit { tx in try tx["a"].add(contentsOf: [["n": 2], ["n": 3], ["n": 1]]) },
        .commit { tx in try tx["a"].sort(by: [.ascending("n")]) },
        .commit { tx in try tx["a"].delete(2) },
      ]),
    CrashWorkload(
      "create and drop",
      steps: [
        .commit { tx in try tx["a"].create() }, .commit(add("a", 1)),
        .commit { tx in try tx["a"].drop() }, .commit(add("b", 2)),
        .commit { tx in try tx["a"].create() },
      ]),
    CrashWorkload(
      "truncate",
      steps: [
        .commit(add("a", 1)), .commit { tx in try tx["a"].truncate() }, .commit(add("a", 2)),
        .commit { tx in try tx["a"].deleteAll() }, .commit(add("a", 3)),
      ]),
    CrashWorkload("large records", steps: [.commit(addLarge("a", 1)), .commit(addLarge("a", 2))]),
    CrashWorkload(
      "commits with a file of records", longestFrame: 100,
      steps: [
        .commit(addSome("a", 1)), .commit(addSome("a", 2)), .reopen, .commit(addLarge("b", 3)),
        .commit(add("a", 4)),
      ]),
    CrashWorkload(
      "reopen",
      steps: [.commit(add("a", 1)), .reopen, .commit(add("a", 2)), .reopen, .reopen, .commit(add("a", 3))]),
    CrashWorkload(
      "repair", before: .store(["a.plist": damagedTable]), keptText: damagedTable,
      steps: [.commit(add("b", 1)), .repair("a"), .commit(add("a", 2))]),
    CrashWorkload(
      "several tables",
      steps: [
        .commit { tx in for table in ["a", "b", "c"] { try add(table, 1)(&tx) } },
        .commit { tx in
          try tx["a"].set(["n": 2], of: 1)
          try add("b", 2)(&tx)
          try tx["c"].drop()
        },
        .commit { tx in
          try tx["a"].drop()
          try addLarge("b", 3)(&tx)
          try add("d", 3)(&tx)
        },
      ]),
    CrashWorkload("checkpoint", steps: checkpointSteps),
    CrashWorkload("checkpoint with another journal each time", keptJournal: 0, steps: checkpointSteps),
    CrashWorkload(
      "checkpoints of several processes",
      steps: [
        .commit(add("a", 1)), .checkpoint, .reopen, .commit(add("a", 2)), .checkpoint, .reopen,
        .commit(add("b", 3)), .commit(add("a", 4)), .checkpoint, .reopen, .commit(add("b", 5)),
      ]),
    CrashWorkload(
      "a checkpoint at every commit", checkpoints: .everyCommit,
      steps: [
        .commit(add("a", 1)), .commit(add("b", 2)), .reopen,
        .commit { tx in
          try tx["a"].drop()
          try add("b", 3)(&tx)
        },
      ]),
    CrashWorkload(
      "close", checkpoints: .automatic,
      steps: [.commit(add("a", 1)), .close, .commit(add("a", 2)), .reopen, .commit(add("b", 3)), .close]),
    CrashWorkload(
      "a journal that grows",
      steps: [.commit(addHuge("a", 1)), .commit(add("a", 2)), .commit(addHuge("a", 3)), .checkpoint]),
    CrashWorkload(
      "repair in between", before: .store(["a.plist": damagedTable]), keptText: damagedTable,
      steps: [
        .commit(add("b", 1)), .checkpoint, .commit(add("b", 2)), .repair("a"), .commit(add("a", 3)),
        .checkpoint,
      ]),
    CrashWorkload(
      "an old file", before: .store(["a": oldTable]),
      steps: [.commit(add("a", 1)), .commit(add("a", 2)), .commit { tx in try tx["a"].drop() }]),
  ]

  private static let checkpointSteps: [Step] = [
    .commit(add("a", 1)), .checkpoint, .commit(add("a", 2)),
    .commit { tx in
      try add("a", 3)(&tx)
      try add("b", 3)(&tx)
    },
    .checkpoint, .commit { tx in try tx["a"].drop() }, .checkpoint, .checkpoint,
    .commit(add("b", 4)), .commit(add("a", 5)),
  ]

  /// A small table's commits go into its file while a large one's stay in the journal, or go on to the next.
  package static let waiting = [
    CrashWorkload("a large table that waits", largeFile: 1_000, steps: waitingSteps),
    CrashWorkload(
      "a large table that goes on to the next journal", largeFile: 1_000, keptJournal: 0, steps: waitingSteps),
    CrashWorkload(
      "a large table that waits in a journal that stays", largeFile: 1_000, shortJournal: 0, keptJournal: 0,
      steps: waitingSteps),
  ]

  private static let waitingSteps: [Step] = [
    .commit(addSome("a", 1)), .checkpoint, .commit(add("a", 2)), .commit(add("b", 3)), .checkpointWhenDue,
    .reopen, .commit(add("b", 4)), .checkpointWhenDue, .checkpoint,
  ]

  /// Tables that declare rules, and records that are deleted or changed with the one that they refer to.
  package static let ruled = [
    CrashWorkload(
      "rules and references",
      steps: [
        .commit { tx in
          try tx["a"].declare(TableSchema(fields: [FieldSchema("n", type: .integer, isUnique: true)]))
          try add("a", 1)(&tx)
          try add("a", 2)(&tx)
        },
        .commit { tx in
          try tx["b"].declare(
            TableSchema(fields: [
              FieldSchema("with", references: ReferenceRule("a", onDelete: .cascade)),
              FieldSchema("to", references: ReferenceRule("a", onDelete: .clear)),
            ]))
          try tx["b"].add(contentsOf: [["with": 1], ["with": 2, "to": 1], ["n": 3]])
        },
        .checkpoint, .commit { tx in try tx["a"].delete(1) }, .reopen, .checkpoint,
        .commit { tx in
          try tx["b"].declare(nil)
          try tx["a"].drop()
        },
      ])
  ]

  /// With steps of the undo log, of which nothing is synced.
  package static let undo = [
    CrashWorkload(
      "undo",
      steps: [
        .undoable(add("a", 1)), .undoable(add("a", 2)), .undo, .checkpoint, .undoable(add("b", 3)), .reopen,
        .undo, .redo,
      ]),
    CrashWorkload(
      "undo of a truncated table",
      steps: [
        .undoable(addNumbered), .close, .undoable { tx in try tx["a"].truncate() }, .undo,
        .undoable { tx in try tx["a"].sort(by: [.descending("n")]) }, .close,
        .undoable { tx in try tx["a"].drop() }, .undo,
      ]),
  ]

  /// Another program saves tables before, between and after commits. It does not sync their names, and some of them not
  /// at all, so that a commit which builds on one has to.
  package static let edited = [
    CrashWorkload(
      "an editor before and between commits", before: .store(["a.plist": oldTable]), steps: editorSteps),
    CrashWorkload(
      "an editor, with another journal each time", before: .store(["a.plist": oldTable]), keptJournal: 0,
      steps: editorSteps),
    CrashWorkload(
      "an editor that syncs nothing", before: .store(["a.plist": oldTable]),
      steps: [
        .edit("a", .syncsNothing), .commit(add("a", 1)), .commit(add("a", 2)), .checkpoint,
        .edit("a", .syncsNothing), .commit(add("a", 3)), .checkpoint,
      ]),
    CrashWorkload(
      "an editor of two tables", before: .store(["a.plist": oldTable, "b.plist": oldTable]),
      steps: [
        .edit("a"), .edit("b", .syncsNothing), .commit(addToBoth(1)), .checkpoint, .edit("b"), .reopen,
        .edit("a", .syncsNothing), .commit(addToBoth(2)), .close,
      ]),
    CrashWorkload(
      "an editor after commits", before: .store(["a.plist": oldTable]), checkpoints: .everyCommit,
      steps: [.commit(add("a", 1)), .checkpoint, .edit("a"), .commit(add("a", 2)), .checkpoint, .edit("a")]),
  ]

  private static let editorSteps: [Step] = [
    .edit("a"), .commit(add("a", 1)), .checkpoint, .edit("a"), .commit(add("a", 2)), .commit(add("a", 3)),
  ]

  /// Another program saves a table that has commits in the journal, or may have if a call fails.
  package static let editedAmongCommits = [
    CrashWorkload(
      "an editor beside another table", before: .store(["a.plist": oldTable]), conflicts: 2...5,
      steps: [
        .commit(add("b", 1)), .edit("a"), .commit(add("a", 2)), .checkpoint, .edit("a"), .reopen,
        .commit(add("a", 3)), .close,
      ]),
    CrashWorkload(
      "an editor while commits wait", before: .store(["a.plist": oldTable]),
      steps: [
        .commit(add("a", 1)), .edit("a"), .commit(add("a", 2)), .checkpoint, .commit(add("a", 3)), .edit("a"),
        .commit(addSome("a", 4)), .reopen, .edit("a"), .checkpoint,
      ]),
    CrashWorkload(
      "a table in conflict beside another", before: .store(["a.plist": oldTable]),
      steps: [
        .commit(set("a", 1)), .clash("a"), .commit(add("b", 1)), .checkpointInConflict, .commit(add("b", 2)),
        .reopen, .checkpointInConflict, .commit(add("b", 3)),
      ]),
  ]

  private static func addToBoth(_ number: Int) -> @Sendable (inout StoreTransaction) throws -> Void {
    { tx in
      try add("a", number)(&tx)
      try add("b", number)(&tx)
    }
  }

  static func add(_ table: String, _ number: Int) -> @Sendable (inout StoreTransaction) throws -> Void {
    { tx in try tx[table].add(["n": .integer(Int64(number))], at: .top) }
  }

  private static func set(_ table: String, _ number: Int) -> @Sendable (inout StoreTransaction) throws -> Void
  {
    { tx in try tx[table].set(["n": .integer(Int64(number))], of: 1) }
  }

  /// A record that takes several sectors.
  static func addLarge(_ table: String, _ number: Int) -> @Sendable (inout StoreTransaction) throws -> Void {
    let text = String(repeating: "record \(number), ", count: 120)
    return { tx in try tx[table].add(["n": .integer(Int64(number)), "text": .string(text)]) }
  }

  /// Records that a sort by their number would turn around.
  private static func addNumbered(_ tx: inout StoreTransaction) throws {
    try tx["a"].add(contentsOf: (1...3).map { ["n": .integer($0)] })
  }

  /// Records that take several sectors together.
  static func addSome(_ table: String, _ number: Int) -> @Sendable (inout StoreTransaction) throws -> Void {
    let row: Fields = ["n": .integer(Int64(number)), "text": "one of some records"]
    return { tx in try tx[table].add(contentsOf: Array(repeating: row, count: 6)) }
  }

  /// A record that takes more than half of what is allocated for the journal.
  private static func addHuge(_ table: String, _ number: Int)
    -> @Sendable (inout StoreTransaction) throws -> Void
  {
    let text = String(repeating: "a long record \(number), ", count: 2_100)
    return { tx in try tx[table].add(["n": .integer(Int64(number)), "text": .string(text)]) }
  }

  /// Two records with one id.
  private static let damagedTable = table(
    records: [
      "<key>n</key><integer>1</integer><key>wgFileDbSecretId</key><string>1</string>",
      "<key>n</key><integer>2</integer><key>wgFileDbSecretId</key><string>1</string>",
    ])

  /// As the original wrote it: a bare name, and another layout than ours.
  private static let oldTable = table(
    records: ["<key>wgFileDbSecretId</key><string>1</string><key>n</key><integer>0</integer>"])

  private static func table(records: [String]) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    <key>autoincrement</key><string>1</string>
    <key>data</key><array>\(records.map { "<dict>\($0)</dict>" }.joined())</array>
    <key>index</key><dict><key>1</key><string>0</string></dict>
    </dict></plist>

    """
  }
}

// MARK: - Random workloads

extension CrashWorkload {
  /// What random workloads write to.
  package static let randomTables = ["a", "b", "c"]

  /// Some transactions of some verbs each, over the tables that are named; the same for the same seed.
  package static func random(seed: UInt64, tables: [String], commits: Int = 6) -> CrashWorkload {
    var random = SeededRandom(seed: seed)
    var steps: [Step] = []
    for number in 1...commits {
      let seed = random.next()
      steps.append(
        .commit { tx in
          var random = SeededRandom(seed: seed)
          let used = tables.shuffled(using: &random).prefix(Int.random(in: 1...tables.count, using: &random))
          for table in used { try change(table, number, &tx, &random) }
        })
      switch Int.random(in: 0..<6, using: &random) {
      case 0: steps.append(.reopen)
      case 1: steps.append(.checkpoint)
      case 2: steps.append(.close)
      default: break
      }
    }
    let policy = [CheckpointPolicy.manual, .everyCommit, .automatic].randomElement(using: &random)!
    let piece = [nil, 100, 600].randomElement(using: &random)!
    let kept = Bool.random(using: &random) ? nil : 0
    return CrashWorkload(
      "random \(seed)", checkpoints: policy, longestFrame: piece, keptJournal: kept, steps: steps)
  }

  private static func change(
    _ table: String, _ number: Int, _ tx: inout StoreTransaction, _ random: inout SeededRandom
  ) throws {
    let name = TableName<Fields>.records(table)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let ids = try tx[name].snapshot().ids
      let id = ids.randomElement(using: &random)
      switch (Int.random(in: 0..<9, using: &random), id) {
      case (0, let id?): try tx[name].delete(id)
      case (1, let id?): try tx[name].move(id, to: .top)
      case (2, let id?): try tx[name].duplicate(id)
      case (3, let id?): try tx[name].set(["seen": .integer(Int64(number))], of: id)
      case (4, _?): try tx[name].sort(by: [.descending("n")])
      case (5, _?): try tx[name].truncate()
      case (6, _?): try tx[name].drop()
      case (7, _): try addLarge(table, number)(&tx)
      default: try add(table, number)(&tx)
      }
    }
    // Each commit is told by its number.
    let kind = Int.random(in: 0..<4, using: &random)
    if kind == 0 { try addLarge(table, number)(&tx) } else { try add(table, number)(&tx) }
  }
}
