import CFileDB
import FileDBEssentials
import Synchronization

/// The clocks from which files get their times. All times are in nanoseconds.
///
/// On a network disk it is the server's clock. If that one is behind this machine's, a file that has only just changed
/// looks old. So what it shows is read from the files that this process creates there.
final class FileClocks: Sendable {
  static let ofSystem = FileClocks()

  private enum Clock {
    case own
    /// What the clock showed, and this machine's steady clock right after that. `nil` before the first reading.
    case other((time: Int64, steady: Int64)?)
  }

  /// By the device.
  private let clocks = Mutex<[UInt64: Clock]>([:])

  /// What the clock of a device certainly shows by now; `nil` if that is unknown.
  /// - Parameters:
  ///   - own: this machine's clocks: since 1970, and the steady one.
  ///   - isOwn: whether the device takes the time from this machine; `nil` if that cannot be found out now.
  func now(
    on device: UInt64, own: (time: Int64, steady: Int64) = readings(), isOwn: () -> Bool?
  ) -> Int64? {
    var clock = clocks.withLock { $0[device] }
    if clock == nil, let isOwn = isOwn() {
      let found: Clock = isOwn ? .own : .other(nil)
      clocks.withLock { $0[device] = $0[device] ?? found }
      clock = found
    }
    switch clock {
    case .own: return own.time
    case .other(let reading?): return reading.time + (own.steady - reading.steady)
    case .other(nil), nil: return nil
    }
  }

  /// Records that a file has just been created on a device, and that this is its time.
  func learn(_ time: Int64, on device: UInt64, steady: Int64 = readings().steady) {
    clocks.withLock { clocks in
      if case .other = clocks[device] { clocks[device] = .other((time, steady)) }
    }
  }

  static func readings() -> (time: Int64, steady: Int64) {
    var (time, steady) = (timespec(), timespec())
    clock_gettime(CLOCK_REALTIME, &time)
    clock_gettime(CLOCK_MONOTONIC, &steady)
    return (time.nanoseconds, steady.nanoseconds)
  }
}

extension FileClocks {
  /// Whether the file at `path` gets its times from this machine; `nil` if it is gone.
  static func isOwn(at path: String) -> Bool? {
    let answer = filedb_has_own_clock(path)
    return answer < 0 ? nil : answer > 0
  }
}
