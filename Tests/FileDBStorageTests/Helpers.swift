import FileDBStorage
import Foundation
import Testing

/// Runs `body` with the path, free of links, of a new folder, and removes it with all that is in it.
func withScratchFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = try SystemDisk().resolve(FileManager.default.temporaryDirectory.path) + "/filedb-\(UUID())"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  return try body(folder)
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}

extension Disk {
  func text(_ path: String) throws -> String { String(decoding: try read(path).bytes, as: UTF8.self) }

  /// Writes a file as other programs do: in place, with no regard to crashes.
  func put(_ text: String, at path: String) throws {
    if try status(path) != nil { try remove(path) }
    try create(path, as: .usual).append(text.bytes)
  }

  func drafts(in folder: String) throws -> [String] {
    try list(folder).filter { $0.contains("filedb-draft") }
  }
}

/// The error of `body`; `nil` if there is none.
func diskError(_ body: () throws -> Void) -> DiskError? {
  do {
    try body()
    return nil
  } catch let error as DiskError {
    return error
  } catch {
    Issue.record(error)
    return nil
  }
}

func kind(_ body: () throws -> Void) -> DiskError.Kind? { diskError(body)?.kind }

/// Runs a program to its end.
func run(_ program: String, _ arguments: String...) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  try process.start()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    throw CommandFailure(command: ([program] + arguments).joined(separator: " "))
  }
}

struct CommandFailure: Error { let command: String }

let isRoot = geteuid() == 0

/// A file system in memory of `kilobytes`, on a folder of its own, for as long as `body` runs. Root only, on Linux.
func withSmallDisk(kilobytes: Int, _ body: (String) throws -> Void) throws {
  try withScratchFolder { folder in
    try run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "filedb-test", folder)
    defer { try? run("umount", folder) }
    try body(folder)
  }
}

/// What keeps the tests from mounting a file system; `nil` if nothing does.
let noMountsHere: Comment? = {
  #if os(Linux)
    guard isRoot else { return "only root may mount a file system" }
    return (try? withSmallDisk(kilobytes: 64) { _ in }) == nil
      ? "this machine lets nobody mount a file system" : nil
  #else
    return "tmpfs is Linux's"
  #endif
}()

/// What keeps the tests from acting as another user; `nil` if nothing does.
let noOtherUser: Comment? = {
  #if os(Linux)
    return isRoot ? nil : "only root may act as another user"
  #else
    return "a thread's own user is Linux's"
  #endif
}()

let nobody: uid_t = 65_534

/// Runs `body` with the rights of the user nobody. On Linux that is a matter of this thread alone, so other tests do
/// not notice.
func asNobody<Result>(_ body: () throws -> Result) throws -> Result {
  // Looked up by name: Swift's Glibc module leaves its header out.
  guard let symbol = dlsym(nil, "setfsuid") else { throw CommandFailure(command: "setfsuid") }
  let setfsuid = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
  _ = setfsuid(nobody)
  defer { _ = setfsuid(0) }
  return try body()
}

extension Journal {
  /// Adds a frame in the steps in which a commit does.
  mutating func append(_ kind: JournalFrame.Kind, _ payload: [UInt8]) throws(DiskError) {
    if try clean() { try file.syncData(.full) }
    if try reserve(payload.count) {
      try file.syncData(.full)
      didSyncLength()
    }
    try rewriteDoubtful()
    try write(kind, payload)
  }
}
