import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

@Suite struct WriterGateTests {
  @Test func transactionIsThatOfTheThreadInsideAlone() throws {
    let gate = WriterGate()
    let transaction = TransactionState(store: .inMemory())
    #expect(gate.currentTransaction == nil)
    try gate.enter {
      #expect(gate.currentTransaction == nil)
      try gate.with(transaction) {
        #expect(gate.currentTransaction === transaction)
        let seen = Mutex<Bool?>(nil)
        let end = startThread("a look from another thread") {
          seen.withLock { $0 = gate.currentTransaction == nil }
        }
        try end.wait()
        #expect(seen.withLock { $0 } == true)
      }
      #expect(gate.currentTransaction == nil)
    }
  }

  @Test func oneThreadIsInsideAtATime() {
    let gate = WriterGate()
    let inside = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 100) { _ in
      gate.enter {
        #expect(inside.add(1, ordering: .sequentiallyConsistent).newValue == 1)
        inside.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
  }
}
