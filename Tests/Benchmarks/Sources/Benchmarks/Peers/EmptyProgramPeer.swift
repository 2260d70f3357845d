import Foundation

/// A Swift program that prints a line: the least that a program in Swift takes.
final class EmptyProgramPeer: Peer {
  static let name = "Swift program that prints a line"

  init(_ sample: Sample) {}

  func prepare(_ workload: Workload) throws -> Run? {
    guard workload == .start else { return nil }
    guard let program = ProcessInfo.processInfo.environment["EMPTY_PROGRAM"] else {
      throw LeftOut("$EMPTY_PROGRAM names no program")
    }
    return try startingProgram(program, [])
  }
}
