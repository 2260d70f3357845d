import Foundation

/// SplitMix64: a random sequence that its seed brings back, so that a failed random test can be run again.
public struct SeededRandom: RandomNumberGenerator, Sendable {
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// A sequence of its own for each run, or the one that the environment variable `FILEDB_SEED` names.
  ///
  /// The seed is printed, for the output of a failed run is often all there is of it.
  public static func fromEnvironment(_ test: String) -> SeededRandom {
    var seed = UInt64.random(in: 0...UInt64.max)
    if let text = ProcessInfo.processInfo.environment["FILEDB_SEED"] {
      guard let given = UInt64(text) else { fatalError("FILEDB_SEED is '\(text)', not a decimal number") }
      seed = given
    }
    print("\(test): FILEDB_SEED=\(seed)")
    return SeededRandom(seed: seed)
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
