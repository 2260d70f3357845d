import FileDBStorage
import Foundation

/// Machines with a store's folder each, and a sync service that copies the tables' files between them: whole files, at
/// its own time, in any order. It copies a file `.filedb`, and on request all files in a folder of this name.
package struct SyncedMachines {
  /// How the service names the version of a file that it does not choose.
  package enum Service: CaseIterable, Sendable {
    case syncthing, dropbox, nextcloud, seafile

    func copy(of file: String, number: Int, from machine: Int) -> String {
      let ending = file.hasSuffix(".plist") ? ".plist" : ""
      let name = file.dropLast(ending.count)
      return switch self {
      case .syncthing: "\(name).sync-conflict-20261101-\(100_000 + number)-MACHIN\(machine)\(ending)"
      case .dropbox: "\(name) (Machine \(machine)'s conflicted copy 2026-11-01 \(number))\(ending)"
      case .nextcloud: "\(name) (conflicted copy 2026-11-01 \(100_000 + number))\(ending)"
      case .seafile: "\(name) (SFConflict m\(machine)@example.com 2026-11-01-\(number))\(ending)"
      }
    }
  }

  package struct Machine {
    package let disk: MemoryDisk
    /// The files as they were when the service last looked.
    fileprivate var known: [String: [UInt8]] = [:]
    /// Files of which only the first half is there yet.
    fileprivate var arriving: Set<String> = []
  }

  package static let folder = "/store"
  /// Says where the own folder of the store is, if it is outside. The service chooses one and keeps no copy.
  package static let ownFile = ".filedb"

  package private(set) var machines: [Machine]
  private let service: Service
  private let copiesOwnFolder: Bool
  private var newest: [String: [UInt8]] = [:]
  private var copyCount = 0

  package init(count: Int, service: Service, copiesOwnFolder: Bool = false) throws {
    (self.service, self.copiesOwnFolder) = (service, copiesOwnFolder)
    machines = (0..<count).map { Machine(disk: MemoryDisk(machine: "0000000\($0)")) }
    for machine in machines { try machine.disk.makeFolder(Self.folder) }
  }

  /// The files in a machine's folder that the service copies.
  package func files(_ machine: Int) throws -> [String: [UInt8]] {
    let disk = machines[machine].disk
    let names = try disk.list(Self.folder).filter { !$0.hasPrefix(".") || $0 == Self.ownFile }
    var files: [String: [UInt8]] = [:]
    for name in try names.flatMap({ try self.names(below: $0, on: disk) }) {
      files[name] = try disk.read("\(Self.folder)/\(name)").bytes
    }
    return files
  }

  private func names(below name: String, on disk: MemoryDisk) throws -> [String] {
    let path = "\(Self.folder)/\(name)"
    guard try disk.status(path)?.kind == .folder else { return [name] }
    return copiesOwnFolder
      ? try disk.list(path).flatMap { try names(below: "\(name)/\($0)", on: disk) } : []
  }

  /// Whether only a part of a file has arrived.
  package func isArriving(at machine: Int) -> Bool { !machines[machine].arriving.isEmpty }

  /// Looks at one file of a machine.
  package mutating func step(_ machine: Int, _ random: inout SeededRandom) throws {
    let local = try files(machine)
    let names = Set(local.keys).union(newest.keys).sorted()
    guard let name = names.randomElement(using: &random) else { return }
    try look(at: name, local[name], of: machine, &random)
  }

  /// Looks at all files of all machines, until nothing changes any more.
  package mutating func settle(_ random: inout SeededRandom) throws {
    while true {
      let before = (try machines.indices.map(files), newest)
      for machine in machines.indices {
        for name in try Set(files(machine).keys).union(newest.keys).sorted() {
          try look(at: name, files(machine)[name], of: machine, &random)
        }
      }
      let isSettled = machines.allSatisfy(\.arriving.isEmpty)
      if isSettled, try (machines.indices.map(files), newest) == before { return }
    }
  }

  private mutating func look(
    at name: String, _ local: [UInt8]?, of machine: Int, _ random: inout SeededRandom
  ) throws {
    if machines[machine].arriving.remove(name) != nil { return try put(newest[name], as: name, on: machine) }
    let (known, newest) = (machines[machine].known[name], newest[name])
    if local == newest {
      machines[machine].known[name] = local
    } else if local == known {
      if let newest, Bool.random(using: &random) {
        try write(Array(newest.prefix(newest.count / 2)), as: name, on: machine)
        machines[machine].arriving.insert(name)
      } else {
        try put(newest, as: name, on: machine)
      }
    } else if local == nil, newest == known, Int.random(in: 0..<4, using: &random) == 0 {
      try put(newest, as: name, on: machine)  // Some services bring back what somebody has deleted.
    } else if newest == known || newest == nil {
      self.newest[name] = local
      machines[machine].known[name] = local
    } else if let local, let newest, name != Self.ownFile {
      try keepBoth(local, newest, of: name, on: machine, &random)
    } else {
      try put(newest, as: name, on: machine)
    }
  }

  private mutating func keepBoth(
    _ local: [UInt8], _ other: [UInt8], of name: String, on machine: Int, _ random: inout SeededRandom
  ) throws {
    copyCount += 1
    let copy = service.copy(of: name, number: copyCount, from: machine)
    if Bool.random(using: &random) {
      newest[copy] = local
      try put(other, as: name, on: machine)
    } else {
      newest[copy] = other
      newest[name] = local
      machines[machine].known[name] = local
    }
  }

  private mutating func put(_ bytes: [UInt8]?, as name: String, on machine: Int) throws {
    if let bytes {
      try write(bytes, as: name, on: machine)
    } else {
      try machines[machine].disk.remove("\(Self.folder)/\(name)")
    }
    machines[machine].known[name] = bytes
  }

  private func write(_ bytes: [UInt8], as name: String, on machine: Int) throws {
    let path = "\(Self.folder)/\(name)"
    try machines[machine].disk.createFolder(parentFolder(of: path))
    _ = try machines[machine].disk.replace(path, with: bytes)
  }
}
