import FileDB
import FileDBEssentials
import Synchronization

/// Waits for commits of other machines, with PostgreSQL's `LISTEN`.
final class PostgresWatch: LogWatch {
  private let connect: @Sendable () throws(PostgresFailure) -> PostgresConnection
  private let connection = Mutex<PostgresConnection?>(nil)
  /// A pipe. ``interrupt()`` writes to it.
  private let interruption: (reader: CInt, writer: CInt)

  /// - Parameter connect: makes a connection that listens.
  init(_ connect: @escaping @Sendable () throws(PostgresFailure) -> PostgresConnection) throws(StoreError) {
    self.connect = connect
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw StoreError(.inputOutput, "this process has too many open files") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    interruption = (ends[0], ends[1])
  }

  deinit {
    close(interruption.reader)
    close(interruption.writer)
  }

  func prepare() -> Bool {
    connection.withLock { connection in
      if connection?.isOpen != true { connection = try? connect() }
      // The caller looks at the log next, so older notifications are of no interest.
      _ = connection?.takeNotifications()
      return connection != nil
    }
  }

  func wait(upTo timeout: Duration?) {
    let milliseconds = timeout.map { CInt($0 / .milliseconds(1)) } ?? -1
    var sources = [
      pollfd(fd: connection.withLock { $0?.socket } ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: interruption.reader, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&sources, nfds_t(sources.count), milliseconds)
  }

  func interrupt() {
    var byte: UInt8 = 0
    _ = write(interruption.writer, &byte, 1)
  }
}
