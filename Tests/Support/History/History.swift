/// The operations of several processes on a store, and their times.
///
/// Each operation reads lists, and appends its own numbers to some of them. No number is added twice. So a list shows
/// which operations came before, and in what order.
package struct History: Sendable {
  package struct Operation: Sendable {
    package enum Kind: String, Sendable {
      /// A transaction that reads and adds.
      case write
      /// Reads this machine's copy at one commit. It may be old, but it is never older than an earlier read.
      case read
      /// Reads everything that was written before.
      case fresh
    }

    package enum Outcome: String, Sendable {
      case done, failed
      /// It is not known whether it was done.
      case unknown
    }

    package var process: String
    package var kind: Kind
    /// In nanoseconds, by a clock that all processes share.
    package var start: UInt64
    package var end: UInt64
    package var outcome: Outcome
    /// The lists before the operation.
    package var reads: [String: [Int64]]
    package var appends: [String: [Int64]]

    package init(
      _ process: String, _ kind: Kind, _ times: ClosedRange<UInt64>, _ outcome: Outcome = .done,
      reads: [String: [Int64]] = [:], appends: [String: [Int64]] = [:]
    ) {
      (self.process, self.kind, start, end) = (process, kind, times.lowerBound, times.upperBound)
      (self.outcome, self.reads, self.appends) = (outcome, reads, appends)
    }
  }

  package var operations: [Operation]

  package init(_ operations: [Operation]) { self.operations = operations }
}

// MARK: - Text

extension History.Operation: CustomStringConvertible {
  /// A line such as `w1 write 17 25 done a=1,2;b= a=3`: process, kind, start, end, outcome, what was read and added.
  package var description: String {
    "\(process) \(kind.rawValue) \(start) \(end) \(outcome.rawValue) \(Self.text(reads)) \(Self.text(appends))"
  }

  private static func text(_ lists: [String: [Int64]]) -> String {
    if lists.isEmpty { return "-" }
    return lists.sorted { $0.key < $1.key }
      .map { "\($0)=\($1.map(String.init).joined(separator: ","))" }.joined(separator: ";")
  }

  /// Reads a ``description``.
  /// - Returns: `nil` for any other line.
  package init?(_ line: some StringProtocol) {
    let words = line.split(separator: " ")
    guard words.count == 7, let kind = Kind(rawValue: String(words[1])), let start = UInt64(words[2]),
      let end = UInt64(words[3]), start <= end, let outcome = Outcome(rawValue: String(words[4]))
    else { return nil }
    self.init(
      String(words[0]), kind, start...end, outcome, reads: Self.lists(words[5]), appends: Self.lists(words[6])
    )
  }

  private static func lists(_ text: some StringProtocol) -> [String: [Int64]] {
    var lists: [String: [Int64]] = [:]
    for list in text.split(separator: ";") where text != "-" {
      let halves = list.split(separator: "=", omittingEmptySubsequences: false)
      lists[String(halves[0])] = halves[1].split(separator: ",").compactMap { Int64($0) }
    }
    return lists
  }
}

// MARK: - Checking

extension History {
  /// Everything in the history that a correct store does not allow.
  ///
  /// In a correct store, each write is done once or never. Writes happen one after another, in an order that agrees
  /// with the clock. Each write reads the newest state. Other reads show a single commit, and a process never reads an
  /// older commit than before.
  ///
  /// The method is that of Elle. Each list shows the order of the writes to it. From these orders, from what each
  /// operation read, and from the clock follows which operation came before which. If that is circular, no order of all
  /// operations is possible.
  /// - Complexity: O(*n* log *n*) in the size of everything that was read.
  package var violations: [String] {
    var lists = ObservedLists(operations)
    lists.findOddities()
    // If a single list has no consistent order, the whole history has none.
    guard lists.oddities.isEmpty else { return lists.oddities }
    return HistoryGraph(operations, lists).circles
  }
}

/// What the lists show, each taken alone.
struct ObservedLists {
  private let operations: [History.Operation]
  /// The longest version of each list that an operation has read.
  private(set) var longest: [String: [Int64]] = [:]
  /// The operation that added a number.
  private(set) var writers: [Int64: Int] = [:]
  private(set) var oddities: [String] = []

  init(_ operations: [History.Operation]) {
    self.operations = operations
    for (index, operation) in operations.enumerated() {
      for number in operation.appends.values.joined() {
        if writers.updateValue(index, forKey: number) != nil { oddities.append("\(number) was added twice") }
      }
      for (list, numbers) in operation.reads where numbers.count >= longest[list, default: []].count {
        longest[list] = numbers
      }
    }
  }

  /// Whether any operation has read a number that this one added.
  func isSeen(_ operation: History.Operation) -> Bool {
    operation.appends.contains { list, numbers in
      longest[list]?.contains { numbers.contains($0) } == true
    }
  }

  mutating func findOddities() {
    for (list, numbers) in longest.sorted(by: { $0.key < $1.key }) {
      if Set(numbers).count < numbers.count { oddities.append("done twice: \(list) is \(numbers)") }
      for number in numbers {
        guard let writer = writers[number] else {
          oddities.append("out of nowhere: \(number) in \(list)")
          continue
        }
        if operations[writer].outcome == .failed {
          oddities.append("failed, and done: \(operations[writer])")
        }
      }
    }
    for operation in operations where operation.outcome != .failed {
      for (list, numbers) in operation.reads where !longest[list, default: []].starts(with: numbers) {
        oddities.append(
          "lost: \(operation) read numbers that the longest version of \(list) does not start with")
      }
    }
    findLost()
  }

  /// Finds operations that were done, but whose numbers are missing in lists that were read afterwards.
  private mutating func findLost() {
    var last: [String: UInt64] = [:]
    for operation in operations where operation.kind == .fresh && operation.outcome == .done {
      for list in operation.reads.keys { last[list] = max(last[list] ?? 0, operation.start) }
    }
    for operation in operations where operation.outcome == .done {
      for (list, numbers) in operation.appends where last[list] ?? 0 > operation.end {
        if !Set(numbers).isSubset(of: longest[list] ?? []) {
          oddities.append("acknowledged and lost: \(operation)")
        }
      }
    }
  }
}
