import FileDBStorage
import Foundation
import TestSupport
import Testing

private let old = String(repeating: "the old content\n", count: 40)
private let new = String(repeating: "the new and longer content\n", count: 90)

/// A way for a verb to fail.
struct Failure: CustomStringConvertible, Sendable {
  var errno: CInt
  var lasting: Bool
  var halfWritten: Bool

  static let all: [Failure] = [EIO, ENOSPC, EACCES].flatMap { errno in
    [false, true].flatMap { lasting in
      [false, true].map { Failure(errno: errno, lasting: lasting, halfWritten: $0) }
    }
  }

  func faults(at verb: Int) -> FaultyDisk.Faults {
    .fail(at: verb, errno: errno, lasting: lasting, halfWritten: halfWritten)
  }

  var description: String {
    "\(String(cString: strerror(errno)))\(lasting ? ", lasting" : "")\(halfWritten ? ", half written" : "")"
  }
}

@Suite struct FaultTests {
  /// Fails each verb of a replacement in turn, until one needs no more verbs.
  private func failEveryVerb(of path: String, in folder: String, on disk: any Disk, _ failure: Failure) throws
  {
    for verb in 0... {
      try disk.put(old, at: path)
      let faulty = FaultyDisk(over: disk, faults: failure.faults(at: verb))
      let error = diskError { _ = try faulty.replace(path, with: new.bytes) }
      if faulty.faultCount == 0 {
        #expect(error == nil)
        #expect(try disk.text(path) == new)
        return
      }
      #expect(error?.errno == failure.errno, "the fault at verb \(verb) must be the error that is thrown")
      #expect([old, new].contains(try disk.text(path)), "verb \(verb)")
      // A failure before the new file has its name leaves the old one.
      if !faulty.verbs.contains(.syncFolder) { #expect(try disk.text(path) == old, "verb \(verb)") }
      // Where only one verb failed, the draft is gone at once; else whoever comes next sweeps it.
      if !failure.lasting { #expect(try disk.drafts(in: folder).isEmpty, "verb \(verb)") }
      try disk.sweepDrafts(in: folder)
      #expect(try disk.drafts(in: folder).isEmpty, "verb \(verb)")
    }
  }

  @Test(arguments: Failure.all)
  func replaceLeavesWholeFileWhicheverVerbFails(failure: Failure) throws {
    let memory = MemoryDisk()
    try memory.createFolder("/store")
    try failEveryVerb(of: "/store/todo", in: "/store", on: memory, failure)
    try withScratchFolder { folder in
      try failEveryVerb(of: "\(folder)/todo", in: folder, on: SystemDisk(), failure)
    }
  }

  @Test func replaceSyncsFileBeforeRenameAndFolderAfter() throws {
    let disk = FaultyDisk(over: MemoryDisk())
    _ = try disk.replace("/todo", with: new.bytes)
    #expect(
      disk.verbs == [
        .resolve, .status, .create, .append, .sync, .status, .rename, .syncFolder, .status,
      ])
  }
}
