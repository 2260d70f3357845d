import Dispatch
import FileDB
import Synchronization

/// A value that another thread reads.
package final class PendingRead<Value: Sendable>: Sendable {
  private let result: Mutex<Result<Value, StoreError>?>
  private let reading = DispatchGroup()

  /// A value that was already read.
  init(_ value: Value) { result = Mutex(.success(value)) }

  /// Starts reading.
  package init(_ read: @escaping @Sendable () throws(StoreError) -> Value) {
    result = Mutex(nil)
    // A queue of its own, so that it has a thread of its own.
    DispatchQueue(label: "FileDB.PendingRead").async(group: reading) { [self] in
      let value = Result { () throws(StoreError) in try read() }
      result.withLock { $0 = value }
    }
  }

  /// Waits for the other thread.
  package func get() throws(StoreError) -> Value {
    reading.wait()
    guard let result = result.withLock({ $0 }) else {
      preconditionFailure("the thread ended without a result")
    }
    return try result.get()
  }
}
