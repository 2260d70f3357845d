import FileDB
import FileDBStorage
import Foundation

/// What a program does with a store that a power cut interrupted.
struct Recovery {
  let keptBytes: [UInt8]?

  private func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: CrashWorkload.storeFolder), disk: disk,
      options: StoreOptions(checkpoints: .manual))
  }

  /// Recovers a store and checks that it is sound, that it stays as it is, and that it can be written to.
  /// - Returns: what it held.
  func check(_ image: DiskImage) throws -> StoreContents {
    if let keptBytes {
      try require(image.files.values.contains(keptBytes), "the original of the repaired table is nowhere")
    }
    let disk = MemoryDisk(image)
    let store = try open(disk)
    let found = try StoreContents(of: store)
    try require(disk.image == image, "reading wrote to the disk")
    try store.write { _ in }
    if found.isSound { try store.checkInvariants() }
    let recovered = disk.image
    let ignored = recovered.files["\(CrashWorkload.storeFolder)/.filedb/.gitignore"]
    try require(ignored == Array("*\n".utf8), "git would not ignore what is ours")
    let again = try open(disk)
    try again.write { _ in }
    try require(disk.image == recovered, "recovering twice changes more")
    try again.write(addOne)
    let after = try StoreContents(of: again)
    try require(StoreContents(of: open(disk)) == after, "a commit after the recovery cannot be read back")
    if found.isSound { try again.checkNothingIsLeftBehind() }  // Makes a checkpoint.
    try require(
      StoreContents(of: open(disk)) == after, "the checkpoint after the recovery changed what is there")
    try require(after.withoutOwnTable == found.withoutOwnTable, "recovering changed what is there")
    return found
  }

  /// Takes back all that the undo log has: each step leads to what was there before it, and none is passed over.
  func checkUndo(_ image: DiskImage, leadsTo targets: [StoreContents]) throws {
    let store = try open(MemoryDisk(image))
    let log = try store.undoLog.contents()
    try require(
      log.isCutOff ? log.undo.count <= targets.count : log.undo.count == targets.count,
      "the undo log has \(log.undo.count) steps, of \(targets.count)")
    for target in targets.prefix(log.undo.count) {
      do {
        let entry = try store.undoLog.undo()
        try require(entry != nil, "the undo log ends too early")
      } catch StoreError.Code.undoStepLost {
        return try store.checkInvariants()
      }
      let contents = try StoreContents(of: store)
      try require(contents.rows == target.rows, "undo led to \(contents), and before there was \(target)")
    }
    try require(store.undoLog.undo() == nil, "the undo log goes on where it ended")
    try store.checkInvariants()
  }

  /// Recovers a store, commits once more and makes a checkpoint.
  func goOn(on disk: RecordingDisk) throws -> StoreContents {
    let store = try open(disk)
    try store.write(addOne)
    disk.note(.acknowledged(1))
    let contents = try StoreContents(of: store)
    if contents.isSound { try store.checkpoint() }
    return contents
  }

  private func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw BrokenInvariant(description: message()) }
  }

  private func addOne(_ tx: inout StoreTransaction) throws {
    try tx[StoreContents.ownTable].add(["n": "after the recovery"])
  }
}

extension StoreContents {
  /// No workload has a table of this name.
  fileprivate static let ownTable = "after"

  /// The records alone, for an undo does not lower the counter.
  fileprivate var rows: [String: [EncodedRecord]] {
    tables.compactMapValues { if case .rows(let records, _) = $0 { records } else { nil } }
  }

  fileprivate var withoutOwnTable: [String: Table] { tables.filter { $0.key != Self.ownTable } }
}

extension DiskImage {
  /// Each file with its size and, if it is short, what is in it.
  var summary: String {
    files.sorted { $0.key < $1.key }.map { path, bytes in
      let used = bytes.prefix { $0 != 0 }.count
      let text = String(decoding: bytes.prefix(min(used, 3_000)), as: UTF8.self)
        .split(separator: "\n").joined(separator: "\n")
      return "\(path), \(bytes.count) bytes, the first \(used) not 0:\n\(text)"
    }.joined(separator: "\n")
  }
}
