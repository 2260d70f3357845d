/// Ids as text, such as `3 7-2000 5`.
package enum RecordIDList {
  package static func text(_ ids: [AnyRecordID]) -> String {
    var runs: [ClosedRange<Int64>] = []
    for id in ids.map(\.rawValue) {
      if let last = runs.last, last.upperBound < id, last.upperBound + 1 == id {
        runs[runs.count - 1] = last.lowerBound...id
      } else {
        runs.append(id...id)
      }
    }
    return runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
      .joined(separator: " ")
  }

  /// Reads the lists of one file. Without a limit, a few digits could ask for more memory than there is.
  package struct Reader {
    /// How many ids the next lists may have.
    private var room: Int

    /// - Parameter room: how many ids all lists together may have; by default, more than a table has.
    package init(room: Int = 1 << 26) { self.room = room }

    /// - Returns: `nil` if the text is not a list of ids, or if the lists are too long.
    package mutating func ids(_ text: String) -> [AnyRecordID]? {
      var ids: [AnyRecordID] = []
      for word in text.utf8.split(separator: UInt8(ascii: " ")) {
        let bounds = Substring(word).split(separator: "-", omittingEmptySubsequences: false).map {
          AnyRecordID(String($0))
        }
        guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds[bounds.count - 1],
          first.rawValue <= last.rawValue, last.rawValue - first.rawValue < room - ids.count
        else { return nil }
        for id in first.rawValue...last.rawValue { ids.append(AnyRecordID(counted: id)) }
      }
      room -= ids.count
      return ids
    }
  }
}
