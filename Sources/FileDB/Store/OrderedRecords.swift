/// The records of a table in row order, with the way back from an id to its row.
///
/// The order is a plain array: a row is found in O(1), and a change in the middle moves what lies behind it. The rows
/// by id are kept while records only come at the end or go in place, and found by a scan until ``index()`` is called.
package struct OrderedRecords: Sendable {
  private var elements: [StoredRecord] = []
  private var rows: [RecordID: Int]? = [:]

  package init() {}

  /// - Complexity: O(1) on indexed records, else O(*n*).
  package func row(of id: RecordID) -> Int? {
    if let rows { return rows[id] }
    return elements.firstIndex { $0.id == id }
  }

  /// Makes ``row(of:)`` a matter of O(1).
  /// - Complexity: O(*n*), or O(1) where it is so already.
  package mutating func index() {
    guard rows == nil else { return }
    var rows = [RecordID: Int](minimumCapacity: elements.count)
    for (row, element) in elements.enumerated() { rows[element.id] = row }
    self.rows = rows
  }

  package mutating func insert(_ records: [StoredRecord], at row: Int) {
    if row == elements.count {
      for (offset, record) in records.enumerated() { rows?[record.id] = row + offset }
    } else if !records.isEmpty {
      rows = nil
    }
    elements.insert(contentsOf: records, at: row)
  }

  package mutating func replace(row: Int, with record: Record) { elements[row].record = record }

  package mutating func remove(row: Int) {
    let removed = elements.remove(at: row)
    if row == elements.count { rows?[removed.id] = nil } else { rows = nil }
  }

  package mutating func remove(_ ids: Set<RecordID>) {
    elements.removeAll { ids.contains($0.id) }
    rows = nil
  }

  package mutating func move(row: Int, to newRow: Int) {
    guard row != newRow else { return }
    elements.insert(elements.remove(at: row), at: newRow)
    rows = nil
  }

  /// Puts the records into the order in which `oldRows` names their present rows.
  package mutating func reorder(_ oldRows: [Int]) {
    elements = oldRows.map { elements[$0] }
    rows = nil
  }
}

extension OrderedRecords: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { elements.count }
  package subscript(row: Int) -> StoredRecord { elements[row] }
}
