/// Somebody to compare with, FileDB included: one file each, in Peers. An instance is for one size of the sample.
protocol Peer: AnyObject {
  static var name: String { get }
  /// The most records with which `workload` is bearable; 0 if it cannot do such a thing.
  static func mostRecords(for workload: Workload) -> Int
  init(_ sample: Sample)
  /// Its way to do `workload`, made ready; `nil` if it cannot do such a thing.
  /// - Throws: ``LeftOut`` if something is missing on this machine.
  func prepare(_ workload: Workload) throws -> Run?
  /// Makes what ``memoryOfOpening()`` opens, if it is not there yet.
  func makeFileToOpen() throws
  /// What it adds to a process to open the table and read each record once; run in a process of its own. `nil` if
  /// there is nothing to open.
  func memoryOfOpening() throws -> ResidentMemory.Growth?
  /// The same with an index of the amounts that has to be in memory; `nil` if there is none.
  func memoryOfLookup() throws -> ResidentMemory.Growth?
}

extension Peer {
  static func mostRecords(for workload: Workload) -> Int { .max }
  func makeFileToOpen() throws {}
  func memoryOfOpening() throws -> ResidentMemory.Growth? { nil }
  func memoryOfLookup() throws -> ResidentMemory.Growth? { nil }
}

/// Does a workload once, checks what came out, and returns the seconds that one operation took.
typealias Run = () throws -> Double

/// Why a peer is not in a table.
struct LeftOut: Error, CustomStringConvertible {
  let description: String

  init(_ reason: String) { description = reason }
}

/// A peer that did something else than what it was timed for.
struct WrongResult: Error, CustomStringConvertible {
  let description: String

  init(_ what: String) { description = "wrong result: \(what)" }
}

func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws(WrongResult) {
  if !holds { throw WrongResult(what()) }
}

/// Everybody, in the order of the tables.
enum Peers {
  static var all: [any Peer.Type] {
    [
      FileDBPeer.self, EmptyProgramPeer.self, BareWritePeer.self, GRDBPeer.self, SQLitePeer.self,
      LMDBPeer.self,
      SQLiteCommandPeer.self, SQLiteUtilsPeer.self, MillerPeer.self, MemchrPeer.self, EmptySAXPeer.self,
      PropertyListCoderPeer.self,
      PropertyListSerializationPeer.self, JSONCoderPeer.self,
      WgFileDbPeer.self, PlistlibPeer.self, TinyDBPeer.self, RecutilsPeer.self,
    ]
  }
}
