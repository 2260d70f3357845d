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

  /// More than a table has. Otherwise, a few digits could ask for more memory than there is.
  private static let longest = 1 << 26

  /// `nil` if the text is not a list of ids.
  package static func ids(_ text: String) -> [AnyRecordID]? {
    var ids: [AnyRecordID] = []
    for word in text.utf8.split(separator: UInt8(ascii: " ")) {
      let bounds = Substring(word).split(separator: "-").map { AnyRecordID(String($0)) }
      guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds[bounds.count - 1],
        first.rawValue <= last.rawValue, last.rawValue - first.rawValue < longest - ids.count
      else { return nil }
      for id in first.rawValue...last.rawValue { ids.append(AnyRecordID(counted: id)) }
    }
    return ids
  }
}
