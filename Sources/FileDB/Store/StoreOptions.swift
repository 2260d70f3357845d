import FileDBPlist

/// How a store behaves.
public struct StoreOptions: Sendable {
  /// How long a write waits for another process to finish its own before it fails with ``StoreError/locked``.
  public var lockTimeout: Duration
  /// What a table file may hold; the same for reading and writing.
  public var limits: PlistLimits

  public init(lockTimeout: Duration = .seconds(5), limits: PlistLimits = PlistLimits()) {
    self.lockTimeout = lockTimeout
    self.limits = limits
  }
}
