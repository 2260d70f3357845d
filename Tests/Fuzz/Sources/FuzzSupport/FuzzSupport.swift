import CLibFuzzer
import Foundation

/// Hands inputs to `test` for as long as the options on the command line say. `test` returns false for an input that is
/// not worth keeping.
///
/// libFuzzer has a `main` of its own, but SwiftPM's comes first.
public func runFuzzer(_ test: @escaping ([UInt8]) -> Bool) -> Never {
  currentTest = test
  var count = CommandLine.argc
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
  exit(LLVMFuzzerRunDriver(&count, &arguments) { runOneInput($0, $1) })
}

/// A C function has no context. Set once, before libFuzzer's one thread runs.
nonisolated(unsafe) private var currentTest: ([UInt8]) -> Bool = { _ in false }

/// The name that libFuzzer's own `main`, which is linked though it never runs, wants.
@_cdecl("LLVMFuzzerTestOneInput")
func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  currentTest(Array(UnsafeBufferPointer(start: start, count: count))) ? 0 : -1
}

/// Ends the run with the input that shows a fault, which libFuzzer then keeps.
///
/// Not `fatalError`: an optimized build may leave its message out.
public func fail(_ message: @autoclosure () -> String) -> Never {
  FileHandle.standardError.write(Data("MISMATCH: \(message())\n".utf8))
  abort()
}

/// Numbers that follow from an input alone: where to cut it, what to do with it.
///
/// They are not taken out of the input, so that an input is a plain file: any file is a seed, and a file that shows a
/// fault goes into a test as it is. Each change that libFuzzer makes draws new numbers.
public struct Choices {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  public init(_ bytes: [UInt8]) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  /// A number from 0 to `bound` - 1.
  public mutating func next(below bound: Int) -> Int {
    // SplitMix64.
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
  }
}

extension Array where Element == UInt8 {
  /// Pieces that together are these bytes, cut in one place or in many.
  public func pieces(_ choices: inout Choices) -> [[UInt8]] {
    guard !isEmpty else { return [[]] }
    if choices.next(below: 4) > 0 {
      let cut = choices.next(below: count + 1)
      return [Array(self[..<cut]), Array(self[cut...])]
    }
    let length = 1 + choices.next(below: 4)
    return stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min(count, $0 + length)]) }
  }
}

extension Array where Element == UInt8 {
  /// Changes numbers of 64 bits. Each change takes four bytes: which number, how, and a value.
  /// - Parameter first: the first number that is changed.
  public mutating func change(by changes: [UInt8], from first: Int) {
    for start in stride(from: 0, to: changes.count - 3, by: 4) {
      let words = count / 8 - first
      guard words > 0 else { return }
      let place = 8 * (first + (Int(changes[start]) << 2 | Int(changes[start + 1] & 3)) % words)
      let value = UInt64(changes[start + 2]) << 8 | UInt64(changes[start + 3])
      let former = self[place..<place + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      let new: UInt64 =
        switch (changes[start + 1] >> 2) % 8 {
        case 0: value
        case 1: former &+ value
        case 2: former &- value
        case 3: former ^ 1 << (value % 64)
        case 4: .max - value
        case 5: .max / 2 - value
        case 6: value << 48
        default: former &+ 8 &* value
        }
      for byte in 0..<8 { self[place + byte] = UInt8(truncatingIfNeeded: new >> UInt64(8 * byte)) }
    }
  }
}
