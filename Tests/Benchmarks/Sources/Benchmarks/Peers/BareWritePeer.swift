import FileDB
import Foundation

/// What the disk takes at least for a commit: as many bytes as FileDB's commit has, at the end of the last ones, in a
/// file that is long enough already, by one `pwrite` and one `fdatasync`. And for a whole table: its bytes in a new
/// file.
final class BareWritePeer: Peer {
  static let name = "bare write and fdatasync"

  private let sample: Sample
  /// A small table tells how long a commit is: it has the same bytes at any size, but for the digits of some ids.
  private lazy var model = Result {
    let small = try Sample.make(in: sample.scratch("bare/model"), records: min(sample.records, 1_000))
    let store = try RecordStore(at: small.store, options: StoreOptions(checkpoints: .manual))
    return try EditedTable(FileDBEditor(store.table(.sample)), records: small.records)
  }

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .edit(let kind, .commit): try committing(kind)
    case .processorTime: try writingAlone()
    case .checkpoint: try writingTable()
    default: nil
    }
  }

  private func committing(_ kind: EditKind) throws -> Run {
    let commits = try PreparedFile(sample.scratch("bare"), lengthOfCommit: model.get().bytesOfCommit(kind))
    return {
      let pace = Pace(limit: EditedTable.commitSeconds)
      try pace.run(0..<EditedTable.commits) { number in
        try commits.write(number)
        try commits.sync()
      }
      try commits.check(pace.done)
      return pace.secondsEach
    }
  }

  /// Without the sync.
  private func writingAlone() throws -> Run {
    let commits = try PreparedFile(sample.scratch("bare"), lengthOfCommit: model.get().bytesOfCommit(.bottom))
    return {
      let spent = try processorSeconds {
        for number in 0..<EditedTable.commits { try commits.write(number) }
      }
      try commits.check(EditedTable.commits)
      return spent / Double(EditedTable.commits)
    }
  }

  private func writingTable() throws -> Run {
    let bytes = try sample.bytes()
    let path = try sample.scratch("bare").appendingPathComponent("table").path
    return {
      defer { unlink(path) }
      return try seconds(
        of: {
          let file = try RawFile(path)
          try file.write(bytes, at: 0)
          try file.sync()
        },
        check: {
          try expect(FileManager.default.contents(atPath: path)?.elementsEqual(bytes) == true, "the table")
        })
    }
  }
}

/// A file with room for the commits of a run.
private final class PreparedFile {
  private let file: RawFile
  private let length: Int
  private var run: UInt8 = 0

  init(_ folder: URL, lengthOfCommit length: Int) throws {
    self.length = length
    file = try RawFile(folder.appendingPathComponent("commits-\(length)").path)
    try file.write([UInt8](repeating: 0, count: length * EditedTable.commits), at: 0)
    try file.sync()
  }

  func write(_ number: Int) throws {
    if number == 0 { run = run % 255 + 1 }
    try file.write([UInt8](repeating: run, count: length), at: number * length)
  }

  func sync() throws { try file.sync() }

  /// That the last of `count` commits is there, and the file as long as before.
  func check(_ count: Int) throws {
    let bytes = try file.read(length, at: (count - 1) * length)
    try expect(bytes.allSatisfy { $0 == run }, "the last write")
    try expect(try file.size() == length * EditedTable.commits, "the length of the file")
  }
}

/// A file as the system has it.
final class RawFile: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try expect(descriptor >= 0, "opening \(path)")
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8], at offset: Int) throws {
    let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    try expect(written == bytes.count, "writing \(bytes.count) bytes")
  }

  func sync() throws {
    #if os(Linux)
      try expect(fdatasync(descriptor) == 0, "a sync")
    #else
      try expect(fcntl(descriptor, F_FULLFSYNC) == 0, "a sync")
    #endif
  }

  func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try expect(pread(descriptor, &bytes, count, off_t(offset)) == count, "reading \(count) bytes")
    return bytes
  }

  func size() throws -> Int {
    var status = stat()
    try expect(fstat(descriptor, &status) == 0, "the size of a file")
    return Int(status.st_size)
  }
}
