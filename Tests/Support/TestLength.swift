import Foundation

/// How long the tests are that can be made longer. `Tests/model` runs the long ones.
public enum TestLength {
  /// As many as `FILEDB_OPERATIONS` says.
  public static let operations =
    ProcessInfo.processInfo.environment["FILEDB_OPERATIONS"].flatMap { Int($0) } ?? 24_000

  /// Whether everything is tried, and not only a part that a developer can wait for. `Tests/damage` tries everything.
  public static let isFull = ProcessInfo.processInfo.environment["FILEDB_DAMAGE"] == "all"

  /// The commits of a test that makes only commits: 600, or 25,000 at most.
  public static let commits = min(operations / 40, 25_000)
}
