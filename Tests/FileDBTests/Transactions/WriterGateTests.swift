import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

@Suite struct WriterGateTests {
  @Test func transactionIsThatOfTheThreadInsideAlone() throws {
    let gate = WriterGate()
    let store = RecordStore.inMemory()
    let transaction = TransactionState(
      on: store.tables, of: store.log, source: store.source, at: store.url)
    #expect(gate.currentTransaction == nil)
    try gate.enter(timeout: .seconds(30)) {
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
    let entered = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 100) { _ in
      try? gate.enter(timeout: .seconds(30)) {
        entered.add(1, ordering: .relaxed)
        #expect(inside.add(1, ordering: .sequentiallyConsistent).newValue == 1)
        inside.subtract(1, ordering: .sequentiallyConsistent)
      }
    }
    #expect(entered.load(ordering: .relaxed) == 100)
  }

  /// Two threads write to two stores, one inside the other and in opposite order. One of them gives up.
  @Test func writesThatWaitForEachOtherEnd() throws {
    let stores = [0, 1].map { _ in RecordStore.inMemory(options: StoreOptions(lockTimeout: .milliseconds(50)))
    }
    let areInside = Atomic<Int>(0)
    let errors = Mutex<[StoreError.Code]>([])
    let ends = [0, 1].map { first in
      startThread("a write to both stores") {
        do {
          try stores[first].write { _ in
            areInside.add(1, ordering: .sequentiallyConsistent)
            while areInside.load(ordering: .sequentiallyConsistent) < 2 { sched_yield() }
            try stores[1 - first].write { _ in }
          }
        } catch { errors.withLock { $0.append((error as? StoreError)?.code ?? .inputOutput) } }
      }
    }
    for end in ends { try end.wait() }
    #expect([[.locked], [.locked, .locked]].contains(errors.withLock(\.self)))
    for store in stores { try store.write { _ in } }
  }
}
