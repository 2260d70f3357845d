import FileDB
import Foundation

/// A process that is forked while it has a store open, as a server with worker processes does it.
enum Fork {
  /// Commits, forks, and writes while the child does. Waits for the child, which must not get the parent's lock.
  static func run(in folder: URL) throws {
    let store = try RecordStore(at: folder, options: StoreOptions(lockTimeout: .milliseconds(50)))
    let table = try store.table(workTables[0])
    try table.add(WorkRow(writer: "fork", key: 1, sequence: 1, length: 0))

    let channel = try Channel()
    let child = try fork()
    if child == 0 {
      channel.wait()  // Until the parent has the lock.
      let isLocked = (try? table.add(WorkRow(writer: "child", key: 1, sequence: 1, length: 0))) == nil
      _exit(isLocked ? 0 : 1)
    }
    try store.write { tx in
      try tx[workTables[0]].add(WorkRow(writer: "fork", key: 1, sequence: 2, length: 0))
      channel.signal()
      var status: CInt = 0
      guard waitpid(child, &status, 0) == child else { throw Fault("the child is gone") }
      guard status == 0 else { throw Fault("the child wrote while its parent had the lock") }
    }
  }

  /// Swift has no `fork`, since few programs may call it.
  private static func fork() throws -> pid_t {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw Fault("no fork") }
    return unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
  }

  /// A byte from parent to child.
  private struct Channel {
    private let ends: [CInt]

    init() throws {
      var ends: [CInt] = [0, 0]
      guard pipe(&ends) == 0 else { throw Fault("no pipe") }
      self.ends = ends
    }

    func signal() { _ = Foundation.write(ends[1], "!", 1) }

    func wait() {
      var byte: UInt8 = 0
      _ = Foundation.read(ends[0], &byte, 1)
    }
  }
}
