import FileDB
import TestSupport
import Testing

/// Steps that are too long to be kept.
@Suite struct LongUndoTests {
  @Test func onlyStepsTooLongToKeepAreRefusedEarly() throws {
    var random = SeededRandom.fromEnvironment("steps that are too long")
    var counts = (made: 0, refused: 0)
    for _ in 0..<300 {
      let writer = RandomWriter(random: SeededRandom(seed: random.next()))
      let limit = Int.random(in: 0..<3_000, using: &random)
      let stores = [RecordStore.inMemory(), RecordStore.inMemory()]
      for store in stores {
        try store.write { tx in
          for table in RandomWriter.tables {
            try tx.add(contentsOf: (0..<9).map { ["n": .integer($0)] }, to: .records(table))
          }
        }
      }
      var (one, other) = (writer, writer)
      let (_, step) = try stores[0].undoableWrite { tx in for _ in 0..<4 { try one.write(&tx) } }
      let (_, early) = try stores[1].undoableWrite(upTo: limit) { tx in
        for _ in 0..<4 { try other.write(&tx) }
      }
      if early == nil { counts.refused += 1 } else { counts.made += 1 }
      let isKept = try step.isEmpty || UndoHistory(stores[0], longestStep: limit).add(step)
      #expect(early != nil || !isKept)
    }
    #expect(counts.made > 50 && counts.refused > 50)
  }

  @Test func stepLengthCountsBytesOfChangedRecords() throws {
    let store = RecordStore.inMemory()
    let table = try store.table("t")
    let text = PlistValue.string(String(repeating: "x", count: 500))
    try table.add(contentsOf: (0..<20).map { _ in ["text": text] })
    func isMade(_ limit: Int, _ body: (inout StoreTransaction) throws -> Void) throws -> Bool {
      try store.undoableWrite(upTo: limit, body).step != nil
    }
    let bytes = 500..<700
    for count in [1, 5] {
      let (short, long) = (count * bytes.lowerBound, count * bytes.upperBound)
      let add = { (tx: inout StoreTransaction) in
        try tx.add(contentsOf: Array(repeating: ["text": text], count: count), to: .records("t"))
        return
      }
      let set = { (tx: inout StoreTransaction) in
        for id in try tx.snapshot(of: .records("t")).ids.prefix(count) {
          let number = try tx.snapshot(of: .records("t")).record(with: id).fields["n"]?.integer ?? 0
          try tx.set(["n": .integer(number + 1)], of: id, in: .records("t"))
        }
      }
      let delete = { (tx: inout StoreTransaction) in
        try tx.delete(tx.snapshot(of: .records("t")).ids.prefix(count), in: .records("t"))
      }
      for (change, times) in [(add, 1), (set, 2), (delete, 1)] {
        #expect(try !isMade(times * short, change))
        #expect(try isMade(times * long, change))
      }
    }
  }
}
