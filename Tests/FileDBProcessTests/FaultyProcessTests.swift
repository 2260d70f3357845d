import Foundation
import TestSupport
import Testing

/// A process whose calls on the store's files fail. `Tests/faults` runs the same program for every call there is.
@Suite struct FaultyProcessTests {
  #if os(Linux)
    private static let canPreload = true
  #else
    private static let canPreload = false
  #endif

  @Test(.enabled(if: canPreload, "needs LD_PRELOAD, which is Linux's"))
  func failingSystemCallsLoseNothingAndCrashNothing() throws {
    var random = SeededRandom.fromEnvironment("failingSystemCallsLoseNothingAndCrashNothing")
    try withTemporaryFolder { folder in
      let disk = folder.appendingPathComponent("disk")
      try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
      let library = folder.appendingPathComponent("faults.so")
      let build = packageRoot.appendingPathComponent("Tests/FaultInjection/build")
      let building = try Process.run(build, arguments: [library.path])
      building.waitUntilExit()
      try #require(building.terminationStatus == 0)
      let test = try Worker(
        [
          "faults", disk.path, library.path, "--step", "64", "--tables", "2", "--seed",
          "\(random.next())",
        ],
        in: folder)
      let report = try test.end()
      #expect(report.contains(/[1-9]\d+ runs with a fault/) && report.contains("0 violations"), "\(report)")
      print(report)
    }
  }
}
