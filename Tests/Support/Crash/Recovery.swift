import FileDB
import FileDBStorage
import Foundation

/// What a program does with a store that a power cut interrupted.
struct Recovery {
  let keptBytes: [UInt8]?

  private func open(_ disk: any Disk) throws -> RecordStore {
    try RecordStore(
      at: URL(fileURLWithPath: CrashWorkload.storeFolder), disk: disk, options: CrashWorkload.options)
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
    try require(StoreContents(of: again) == found, "recovering changed what is there, which was \(found)")
    try again.write(addOne)
    try require(
      StoreContents(of: open(disk)) == StoreContents(of: again),
      "a commit after the recovery cannot be read back; before it \(found)")
    return found
  }

  /// Recovers a store and commits once more.
  func goOn(on disk: RecordingDisk) throws -> StoreContents {
    let store = try open(disk)
    try store.write(addOne)
    disk.note(.acknowledged(1))
    return try StoreContents(of: store)
  }

  private func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw BrokenInvariant(description: message()) }
  }

  private func addOne(_ tx: inout StoreTransaction) throws {
    try tx.add(["n": "after the recovery"], to: .records("after"))
  }
}

extension DiskImage {
  /// Each file with its size and, where it is short, what is in it.
  var summary: String {
    files.sorted { $0.key < $1.key }.map { path, bytes in
      let used = bytes.prefix { $0 != 0 }.count
      let text = String(decoding: bytes.prefix(min(used, 1_500)), as: UTF8.self)
      return "\(path), \(bytes.count) bytes, the first \(used) not 0:\n\(text)"
    }.joined(separator: "\n")
  }
}
