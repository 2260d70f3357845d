import FileDBStorage
import Foundation
import TestSupport
import Testing

/// Machines with a store's folder each, and a sync service that copies the tables' files between them: whole files, at
/// its own time, in any order. It copies a file `.filedb`, and on request all files in a folder of this name.
final class SyncedMachines {
  /// How the service names the version of a file that it does not choose.
  enum Service: CaseIterable, Sendable {
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

  struct Machine {
    let disk: MemoryDisk
    fileprivate let countdown = Countdown()
    /// The disk as programs use it. The service may come in between two calls; see ``SyncedMachines/during(_:_:_:)``.
    var programDisk: any Disk {
      FaultyDisk(over: disk) { [countdown] _, _ in countdown.count() }
    }
    /// The files as they were when the service last looked.
    fileprivate var known: [String: [UInt8]] = [:]
    /// Files of which only the first half is there yet.
    fileprivate var arriving: Set<String> = []
  }

  /// Counts the calls of a machine's disk.
  fileprivate final class Countdown: Sendable {
    // Safe: the programs on these machines run in one thread.
    nonisolated(unsafe) private var actions: [(call: Int, action: () -> Void)] = []
    nonisolated(unsafe) private var calls = 0

    func start(_ actions: [(call: Int, action: () -> Void)]) { (calls, self.actions) = (0, actions) }

    func count() {
      calls += 1
      for next in actions where next.call == calls { next.action() }
    }
  }

  static let folder = "/store"
  /// Says where the own folder of the store is, if it is outside. The service chooses one and keeps no copy.
  static let ownFile = ".filedb"

  private(set) var machines: [Machine]
  private let service: Service
  private let copiesOwnFolder: Bool
  private var newest: [String: [UInt8]] = [:]
  private var copyCount = 0

  init(count: Int, service: Service, copiesOwnFolder: Bool = false) throws {
    (self.service, self.copiesOwnFolder) = (service, copiesOwnFolder)
    machines = (0..<count).map { Machine(disk: MemoryDisk(machine: "0000000\($0)")) }
    for machine in machines { try machine.disk.makeFolder(Self.folder) }
  }

  /// The files in a machine's folder that the service copies.
  func files(_ machine: Int) -> [String: [UInt8]] {
    let folder = "\(Self.folder)/"
    let files = machines[machine].disk.image.files.filter { path, _ in
      path.hasPrefix(folder) && (copiesOwnFolder || !path.hasPrefix("\(folder)\(Self.ownFile)/"))
    }
    return Dictionary(uniqueKeysWithValues: files.map { (String($0.key.dropFirst(folder.count)), $0.value) })
  }

  /// Runs a program on a machine. The service looks at some of its files meanwhile, between two calls of its disk.
  func during(
    _ machine: Int, _ random: inout SeededRandom, _ program: (inout SeededRandom) throws -> Void
  ) rethrows {
    let countdown = machines[machine].countdown
    var looks: [(call: Int, action: () -> Void)] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let call = Int.random(in: 1...80, using: &random)
      var own = SeededRandom(seed: random.next())
      looks.append((call, { #expect(throws: Never.self) { try self.step(machine, &own) } }))
    }
    countdown.start(looks)
    defer { countdown.start([]) }
    try program(&random)
  }

  /// Whether only a part of a file has arrived.
  func isArriving(at machine: Int) -> Bool { !machines[machine].arriving.isEmpty }

  /// Looks at one file of a machine.
  func step(_ machine: Int, _ random: inout SeededRandom) throws {
    let local = files(machine)
    let names = Set(local.keys).union(newest.keys).sorted()
    guard let name = names.randomElement(using: &random) else { return }
    try look(at: name, local[name], of: machine, &random)
  }

  /// Looks at all files of all machines, until nothing changes any more.
  func settle(_ random: inout SeededRandom) throws {
    while true {
      let before = (machines.indices.map(files), newest)
      for machine in machines.indices {
        for name in Set(files(machine).keys).union(newest.keys).union(machines[machine].arriving).sorted() {
          try look(at: name, files(machine)[name], of: machine, &random)
        }
      }
      let isSettled = machines.allSatisfy(\.arriving.isEmpty)
      if isSettled, (machines.indices.map(files), newest) == before { return }
    }
  }

  private func look(
    at name: String, _ local: [UInt8]?, of machine: Int, _ random: inout SeededRandom
  ) throws {
    if machines[machine].arriving.remove(name) != nil, local != nil || newest[name] != nil {
      return try put(newest[name], as: name, on: machine)
    }
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

  private func keepBoth(
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

  private func put(_ bytes: [UInt8]?, as name: String, on machine: Int) throws {
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
