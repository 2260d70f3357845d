/// The reads that are the same for everybody: random ids and pages, each with what must come out.
extension Sample {
  private static let readSeconds = 1.0

  /// Reads records by random ids, and returns the seconds of one.
  func readRecords(_ read: (_ id: Int) throws -> Int?) throws -> Double {
    var numbers = SplitMix(state: 7)
    let ids = (0..<10_000).map { _ in Int.random(in: 1...records, using: &numbers) }
    let pace = Pace(limit: Sample.readSeconds)
    var sum = 0
    try pace.run(ids) { sum += try read($0) ?? 0 }
    let expected = ids.prefix(pace.done).reduce(0) { $0 + entries[$1 - 1].amount }
    try expect(sum == expected, "the amounts of \(pace.done) records")
    return pace.secondsEach
  }

  /// Reads pages at random rows, and returns the seconds of one.
  func readPages(_ read: (_ row: Int) throws -> [Entry]) throws -> Double {
    var numbers = SplitMix(state: 8)
    let last = max(0, records - Workload.pageLength)
    let rows = (0..<1_000).map { _ in Int.random(in: 0...last, using: &numbers) }
    let pace = Pace(limit: Sample.readSeconds)
    var page: [Entry] = []
    try pace.run(rows) { page = try read($0) }
    let row = rows[pace.done - 1]
    try expect(page == Array(entries[row..<min(records, row + Workload.pageLength)]), "the page at \(row)")
    return pace.secondsEach
  }

  /// The dearest hundredth.
  static let dear = 9_900.0

  /// Reads the rows that are ``dear``, and returns the seconds that it took.
  func filterRows(_ read: () throws -> [Entry]) throws -> Double {
    try seconds(
      of: read, check: { try expect($0 == self.entries.filter { $0.price >= Sample.dear }, "the dear rows") })
  }

  /// What is asked about the rows that are done, and those that are not.
  struct Group: Equatable {
    let isDone: Bool
    let count: Int
    let amounts: Int
    let averagePrice: Double
    let highestPrice: Double
  }

  /// Reads the groups, and returns the seconds that it took.
  func readGroups(_ read: () throws -> [Group]) throws -> Double {
    try seconds(of: read) { groups in
      try expect(groups.reduce(0) { $0 + $1.count } == self.records, "the number of rows")
      for group in groups {
        let rows = self.entries.filter { $0.isDone == group.isDone }
        let average = rows.reduce(0) { $0 + $1.price } / Double(rows.count)
        try expect(
          rows.count == group.count && rows.reduce(0) { $0 + $1.amount } == group.amounts
            && (average - group.averagePrice).magnitude < 1e-6
            && rows.map(\.price).max() == group.highestPrice, "the group of \(group.isDone)")
      }
    }
  }

  /// Reads the rows with the amounts of random ones, and returns the seconds of one amount.
  func lookUpRows(_ read: (_ amount: Int) throws -> [Entry]) throws -> Double {
    var numbers = SplitMix(state: 9)
    let amounts = (0..<10_000).map { _ in entries[Int.random(in: 0..<records, using: &numbers)].amount }
    let pace = Pace(limit: Sample.readSeconds)
    var rows: [Entry] = []
    try pace.run(amounts) { rows = try read($0) }
    let amount = amounts[pace.done - 1]
    try expect(rows == entries.filter { $0.amount == amount }, "the rows with the amount \(amount)")
    return pace.secondsEach
  }

  /// Reads the rows in ranges of amounts, and returns the seconds of one range.
  func readRanges(_ read: (_ amounts: Range<Int>) throws -> [Entry]) throws -> Double {
    var numbers = SplitMix(state: 10)
    let ranges = (0..<1_000).map { _ in
      let start = Int.random(in: 0..<99_000, using: &numbers)
      return start..<start + 1_000
    }
    let pace = Pace(limit: Sample.readSeconds)
    var rows: [Entry] = []
    try pace.run(ranges) { rows = try read($0) }
    let range = ranges[pace.done - 1]
    try expect(rows == entries.filter { range.contains($0.amount) }, "the rows with amounts in \(range)")
    return pace.secondsEach
  }

  func check(_ read: [Entry]) throws { try expect(read == entries, "the rows") }

  /// Checks what opening gave: the number of records, and the title of the first.
  func checkOpening(_ count: Int, _ title: String?) throws {
    try expect(count == records && title == entries.first?.title, "the count or the first record")
  }
}

/// The two keys by which tables are sorted: what is not done first, the dearest first. Each run turns it around, since
/// a table that is in order already need not be sorted.
struct EntryOrder {
  var isReversed = false

  func comesBefore(_ left: Entry, _ right: Entry) -> Bool {
    if left.isDone != right.isDone { return left.isDone == isReversed }
    return isReversed ? left.price < right.price : left.price > right.price
  }

  func check(_ rows: [Entry], count: Int) throws {
    try expect(rows.count == count, "the number of sorted rows")
    try expect(zip(rows, rows.dropFirst()).allSatisfy { !comesBefore($1, $0) }, "the order of the rows")
  }
}
