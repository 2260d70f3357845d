import FileDB
import Foundation
import Synchronization

/// Several writers at the same time, for some seconds each time.
struct Writers {
  private static let seconds = 2.0
  private let engine: Engine
  private let folder: URL

  init(_ engine: Engine, _ folder: URL) { (self.engine, self.folder) = (engine, folder) }

  func measure() async throws {
    for count in [8, 64] {
      var (machines, tasks, bare): ([Double], [Double], [Double]) = ([], [], [])
      for round in 0..<SharedTimes.rounds {
        bare.append(try plainWriters(count))
        machines.append(try self.machines(count, "machines\(count)-\(round)"))
        tasks.append(try await self.tasks(count, "tasks\(count)-\(round)"))
      }
      let other = "\(count) connections"
      SharedTimes.tell("\(count) machines, one writer each", "writes/s", machines, beside: other, bare)
      SharedTimes.tell("\(count) tasks on one machine", "writes/s", tasks, beside: other, bare)
    }
  }

  private func plainWriters(_ count: Int) throws -> Double {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 700)
    let engines = try (0..<count).map { _ in try engine.bare() }
    return rate(engines.map { engine in { try engine.write(bytes) } })
  }

  /// Each machine writes to a table of its own.
  private func machines(_ count: Int, _ name: String) throws -> Double {
    let stores = try (0..<count).map { _ in try engine.machine(name, in: folder) }
    let writes = try stores.enumerated().map { number, store in
      let table = try store.table("t\(number)")
      let id = try table.add(SharedTimes.fields(0))
      return { try table.set(SharedTimes.fields(.random(in: 0..<1_000)), of: id) }
    }
    defer { for store in stores { try? store.close() } }
    return rate(writes)
  }

  /// Each task writes to a record of its own.
  private func tasks(_ count: Int, _ name: String) async throws -> Double {
    let store = try engine.machine(name, in: folder)
    let ids = try await store.write { tx in
      try (0..<count).map { _ in try tx["t"].add(SharedTimes.fields(0)) }
    }
    let start = ContinuousClock.now
    let done = try await withThrowingTaskGroup(of: Int.self) { group in
      for id in ids {
        group.addTask {
          var done = 0
          while (ContinuousClock.now - start) / .seconds(1) < Self.seconds {
            try await store.write { tx in
              try tx["t"].set(SharedTimes.fields(.random(in: 0..<1_000)), of: id)
            }
            done += 1
          }
          return done
        }
      }
      return try await group.reduce(0, +)
    }
    try await store.close()
    return Double(done) / ((ContinuousClock.now - start) / .seconds(1))
  }

  /// Runs each of `writes` again and again, in a thread of its own.
  /// - Returns: how many of them a second.
  private func rate(_ writes: [() throws -> Void]) -> Double {
    let (done, group, start) = (Counter(), DispatchGroup(), ContinuousClock.now)
    for write in writes {
      group.enter()
      // Safe without isolation: only this thread uses it from here on.
      nonisolated(unsafe) let write = write
      Thread.detachNewThread {
        while (ContinuousClock.now - start) / .seconds(1) < Self.seconds {
          do { try write() } catch StoreError.Code.locked { continue } catch {
            print("a writer failed: \(error)")
            break
          }
          done.add()
        }
        group.leave()
      }
    }
    group.wait()
    return Double(done.value) / ((ContinuousClock.now - start) / .seconds(1))
  }
}

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
