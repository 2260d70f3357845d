/// What several processes did to a store, and when: each operation reads lists, and adds numbers of its own to the ends
/// of some. No number is added twice. So who reads a list sees which operations came before, and in what order.
package struct History: Sendable {
  package struct Operation: Sendable {
    package enum Kind: String, Sendable {
      /// A transaction that reads and adds.
      case write
      /// Reads what the process has at hand, of one commit. That may be old, but never goes back.
      case read
      /// Reads what all had written by then.
      case fresh
    }

    package enum Outcome: String, Sendable {
      case done, failed
      /// Nobody could say whether it was done.
      case unknown
    }

    package var process: String
    package var kind: Kind
    /// In nanoseconds of a clock that all processes share.
    package var start: UInt64
    package var end: UInt64
    package var outcome: Outcome
    /// The lists as they were at the beginning.
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

  /// - Returns: `nil` for anything but a ``description``.
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
  /// What cannot have happened in a store that keeps its promises: writes are done once or never, one after another, in
  /// an order that agrees with the clock; each reads what is there then; other reads are of one commit, and for each
  /// process of a later one each time.
  ///
  /// In the manner of Elle: the lists tell the order of the writes to each. These orders, what each operation read, and
  /// the clock say who came before whom. Where that goes in a circle, there is no order of all.
  /// - Complexity: O(*n* log *n*) in all that was read.
  package var violations: [String] {
    var lists = ObservedLists(operations)
    lists.findOddities()
    // Without an order of each list there is none of all.
    guard lists.oddities.isEmpty else { return lists.oddities }
    return HistoryGraph(operations, lists).circles
  }
}

/// What the lists tell, each by itself.
struct ObservedLists {
  private let operations: [History.Operation]
  /// Each list as the operation saw it that saw most of it.
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

  /// Whether anybody saw what the operation added.
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
        oddities.append("lost: \(operation) read what \(list) is not the continuation of")
      }
    }
    findLost()
  }

  /// What was done, and is in none of the lists that were read afterwards.
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
