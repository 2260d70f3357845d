/// What is measured. Peers are compared within one workload, on the same records.
enum Workload: Hashable {
  case parse
  case serialize
  case open
  case rows
  case record
  case page
  case filter
  case predicate
  case predicateAgain
  case groups
  case groupsAgain
  case lookup
  case range
  case edit(EditKind, EditMode)
  case deliver(ObservedRows)
  case sortedView
  case sort
  case importTables
  case ruled(RuledWork, Rules)
  case checkpoint
  case processorTime
  case writers
  case tasks
  case slow(Crowd)
  case csv(CSVWay)
  case script
  case firstLine
  case command(CommandVerb)
  case start
}

/// Who commits at once.
enum Crowd: String, CaseIterable {
  case one, writers, tasks
}

/// Which way the records go.
enum CSVWay: String, CaseIterable {
  case `import`, export
}

/// The changes of one record that are measured.
enum EditKind: String, CaseIterable {
  case top, bottom, middle, move, update, delete
}

/// What a change is measured with.
enum EditMode: String, CaseIterable {
  /// Each change is a transaction of its own, on the disk when it returns.
  case commit
  /// All changes are one transaction; its commit counts.
  case transaction
  /// All changes are one transaction; its commit does not count.
  case memory
}

extension Workload: CaseIterable {
  static let allCases: [Workload] =
    [
      .parse, .serialize, .open, .rows, .record, .page, .filter, .predicate, .predicateAgain, .groups,
      .groupsAgain, .lookup, .range,
    ]
    + EditMode.allCases.flatMap { mode in
      EditKind.allCases.filter { mode != .memory || [.top, .move, .delete].contains($0) }.map {
        .edit($0, mode)
      }
    } + [.processorTime] + ObservedRows.allCases.map { .deliver($0) } + [
      .sortedView, .sort, .importTables,
    ] + RuledWork.allCases.flatMap { work in Rules.allCases.map { .ruled(work, $0) } } + [
      .checkpoint, .writers, .tasks,
    ] + Crowd.allCases.map { .slow($0) } + CSVWay.allCases.map { .csv($0) } + [.script, .firstLine]
    + CommandVerb.allCases.map { .command($0) } + [.start]

  /// The name by which it is chosen.
  var name: String {
    switch self {
    case .parse: "parse"
    case .serialize: "serialize"
    case .open: "open"
    case .rows: "rows"
    case .record: "record"
    case .page: "page"
    case .filter: "filter"
    case .predicate: "predicate"
    case .predicateAgain: "predicate-again"
    case .groups: "groups"
    case .groupsAgain: "groups-again"
    case .lookup: "lookup"
    case .range: "range"
    case .edit(let kind, let mode): "\(mode.rawValue)-\(kind.rawValue)"
    case .deliver(let rows): "deliver-\(rows.rawValue)"
    case .sortedView: "sorted-view"
    case .sort: "sort"
    case .importTables: "import"
    case .ruled(let work, let rules): "rules-\(work.rawValue)-\(rules.rawValue)"
    case .checkpoint: "checkpoint"
    case .processorTime: "commit-cpu"
    case .writers: "writers"
    case .tasks: "tasks"
    case .slow(let crowd): "slow-\(crowd.rawValue)"
    case .csv(let way): "csv-\(way.rawValue)"
    case .script: "script"
    case .firstLine: "first-line"
    case .command(let verb): "command-\(verb.rawValue)"
    case .start: "start"
    }
  }

  /// What is timed, and per what.
  var title: String {
    switch self {
    case .parse: "read the file into values"
    case .serialize: "write values as a document, in memory"
    case .open: "open, count, first record"
    case .rows: "all records, typed, in order, from open"
    case .record: "one record by id, decoded"
    case .page: "a page of \(Workload.pageLength) records at a random place"
    case .filter: "the records that a closure is true of, a hundredth, without a lookup"
    case .predicate:
      "the records that a condition as text is true of, a hundredth, without a lookup, first time"
    case .predicateAgain: "the same again"
    case .groups: "count, sum, average and greatest value in two groups of the records, first time"
    case .groupsAgain: "the same again"
    case .lookup: "the records with one value, by a lookup"
    case .range: "the records with a value in a range, a hundredth, by a lookup"
    case .edit(let kind, .commit): "\(kind.title), a durable commit"
    case .edit(let kind, .transaction): "\(kind.title), in one transaction"
    case .edit(let kind, .memory): "\(kind.title), in a transaction before its commit"
    case .deliver(.row): "an update, a durable commit, until who observes the row has it"
    case .deliver(.list): "an update, a durable commit, until who observes all records has them"
    case .sortedView: "all records, typed, in the order of two keys"
    case .sort: "sort the table by two keys, to stay"
    case .importTables: "import the USDA tables"
    case .ruled(.commit, .free): "add a record, a durable commit, without rules"
    case .ruled(.import, .free): "add all records, one durable transaction, without rules"
    case .ruled(.cascade, .free):
      "delete a record and the \(RuledItem.perOwner) that name it, a durable commit, without rules"
    case .ruled(.commit, .kept):
      "add a record with something unique, bounds and a reference, a durable commit"
    case .ruled(.import, .kept): "add all such records, one durable transaction"
    case .ruled(.cascade, .kept):
      "delete a record, and by its rule the \(RuledItem.perOwner) that name it, a durable commit"
    case .checkpoint: "write the whole table to the disk"
    case .processorTime: "add at the bottom, a commit that does not wait for the disk, the processor's time"
    case .writers: "a commit, \(Workload.writerCount) writers at once"
    case .tasks: "a commit, \(Workload.taskCount) tasks at once"
    case .slow(.one): "add at the bottom, a durable commit, \(SlowDisk.title)"
    case .slow(.writers): "a commit, \(Workload.writerCount) writers at once, \(SlowDisk.title)"
    case .slow(.tasks): "a commit, \(Workload.taskCount) tasks at once, \(SlowDisk.title)"
    case .csv(.import): "import the records from CSV, with their types, a process"
    case .csv(.export): "export the records as CSV, a process"
    case .script:
      "add \(grouped(Workload.transactionLength)) records by a script, or all, one transaction, a process"
    case .firstLine: "print all records, until the first line is there, a process"
    case .command(let verb): "\(verb.title), a process"
    case .start: "start, print the version and end, a process"
    }
  }

  static let pageLength = 50
  static let writerCount = 8
  static let taskCount = 64
  /// As many changes are in one transaction, or as many as there are records, if there are fewer.
  static let transactionLength = 10_000

  /// Whether it is the same whatever the size of the table, so that one size is enough.
  var isSizeless: Bool { [.importTables, .start].contains(self) }
}

extension EditKind {
  var title: String {
    switch self {
    case .top: "add on top"
    case .bottom: "add at the bottom"
    case .middle: "add in the middle"
    case .move: "move"
    case .update: "update"
    case .delete: "delete"
    }
  }
}
