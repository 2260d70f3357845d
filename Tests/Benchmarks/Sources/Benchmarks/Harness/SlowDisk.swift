import CSlowDisk

/// A disk whose syncs take longer, simulated: each `fsync` and `fdatasync` of this process waits before it goes to the
/// disk. `O_DSYNC`, which LMDB uses for half of its syncs, does not.
enum SlowDisk {
  private static let microseconds: UInt32 = 2_000
  static let title = "on a disk whose sync takes 2 ms (simulated)"

  /// A run on a slow disk.
  /// - Throws: ``LeftOut`` if none can be simulated.
  static func running(_ run: Run?) throws -> Run? {
    #if os(Linux)
      guard let run else { return nil }
      return {
        slow_disk_set_delay(microseconds)
        defer { slow_disk_set_delay(0) }
        return try run()
      }
    #else
      throw LeftOut("a slow disk is simulated on Linux alone")
    #endif
  }
}
