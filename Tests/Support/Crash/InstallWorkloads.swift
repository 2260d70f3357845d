import FileDB
import FileDBStorage
import Foundation

extension CrashWorkload {
  /// Two versions that are installed by one policy each, with a user who changes things, and a third one that is
  /// merged: so what the others left behind for a merge must be there.
  package static let installations =
    InstallPolicy.allCases.map { policy in
      CrashWorkload(
        "install, \(policy)", before: .shippedVersions,
        steps: [
          .install("one", 1, policy), .commit(rename("own", of: 2)), .install("two", 2, policy),
          .commit { tx in
            try tx["a"].delete(1)
            try add("b", 9)(&tx)
          },
          .install("three", 3, .merge),
        ])
    } + [
      CrashWorkload(
        "install, with checkpoints", before: .shippedVersions, checkpoints: .everyCommit,
        steps: [.install("one", 1, .merge), .commit(rename("own", of: 2)), .install("two", 2, .merge)])
    ]

  fileprivate static func rename(_ name: String, of id: RecordID<Fields>)
    -> @Sendable (inout StoreTransaction) throws -> Void
  {
    { tx in try tx["a"].set(["name": .string(name)], of: id) }
  }
}

extension DiskImage {
  /// A disk with the stores `one`, `two` and `three`, each a version of the same data.
  fileprivate static let shippedVersions: DiskImage = {
    do { return try makeShippedVersions() } catch { preconditionFailure("\(error)") }
  }()

  private static func makeShippedVersions() throws -> DiskImage {
    let disk = MemoryDisk(.emptyHome)
    let versions: [(name: String, step: (inout StoreTransaction) throws -> Void)] = [
      ("one", { tx in for number in 1...3 { try CrashWorkload.add("a", number)(&tx) } }),
      (
        "two",
        { tx in
          try CrashWorkload.rename("shipped", of: 3)(&tx)
          try CrashWorkload.add("a", 4)(&tx)
          try CrashWorkload.add("b", 1)(&tx)
        }
      ),
      (
        "three",
        { tx in
          try tx["a"].set(["size": 1], of: 2)
          try tx["b"].drop()
        }
      ),
    ]
    var image = emptyHome
    for (count, version) in versions.enumerated() {
      let folder = "\(CrashWorkload.home)/\(version.name)"
      let store = try RecordStore(at: URL(fileURLWithPath: folder), disk: disk, options: StoreOptions())
      try store.write { tx in for version in versions[...count] { try version.step(&tx) } }
      try store.close()
      image.folders.insert(folder)
      for name in try store.tableNames {
        let file = "\(folder)/\(name).plist"
        image.files[file] = try disk.read(file).bytes
      }
    }
    return image
  }
}
