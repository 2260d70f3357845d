import Foundation
import FuzzSupport

// Testable, for what a folder knows about its shared log is nobody else's matter.
@testable import FileDB
@testable import FileDBCluster
@testable import FileDBStorage
@testable import FileDBTables

// An input is one of the notes in the folder of a shared store, or the address of such a store.
@main enum FuzzNotes {
  static func main() { runFuzzer(test) }
}

private let path = "/store"
private let folder = StoreFolder(path: path, disk: StoreDisk(disk))
private let notes = ReplicaNotes(folder: folder)
private let disk: MemoryDisk = {
  let disk = MemoryDisk()
  do {
    try disk.makeFolder(path)
    try disk.makeFolder("\(path)/.filedb")
  } catch { fail("\(error)") }
  return disk
}()

/// Where this user's joined stores are. Beside it is a file that no identity may lead to.
private let state: URL = {
  let state = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-fuzz-notes")
  let joined = state.appendingPathComponent("filedb/joined")
  do {
    try FileManager.default.createDirectory(at: joined, withIntermediateDirectories: true)
    try Data("outside\n".utf8).write(to: state.appendingPathComponent("filedb/outside"))
    try Data("inside\n".utf8).write(to: joined.appendingPathComponent("a-1"))
  } catch { fail("\(error)") }
  setenv("XDG_STATE_HOME", state.path, 1)
  return state
}()

private func test(_ bytes: [UInt8]) -> Bool {
  do {
    for name in [OwnName.shared, .start, .sent] { _ = try disk.replace(folder.own(name), with: bytes) }
    try checkLink()
    try checkNotes()
  } catch {
    fail("\(error)")
  }
  checkAddress(String(decoding: bytes, as: UTF8.self))
  return true
}

/// The identity that a stranger wrote leads to nothing but the address of a store that was joined.
private func checkLink() throws {
  guard let link = try ReplicaLink.read(folder) else { fail("there is no link") }
  _ = state
  if let address = JoinedStores().address(of: link.identity), address != "inside" || link.identity != "a-1" {
    fail("'\(link.identity)' leads to '\(address)'")
  }
}

/// What is read is the same when it is written and read again, and can be printed.
private func checkNotes() throws {
  if let sent = try notes.sentCommit() {
    _ = sent.date.ISO8601Format()
    try notes.write(sent)
    if try notes.sentCommit() != sent { fail("\(sent)") }
  }
  if let start = try notes.start() {
    _ = start.date.ISO8601Format()
    try notes.writeStart(from: start.lastCommitBefore, to: start.commitAfter)
    let again = try notes.start()
    if again?.lastCommitBefore != start.lastCommitBefore || again?.commitAfter != start.commitAfter {
      fail("\(start), read again: \(String(describing: again))")
    }
  }
}

/// An address without a store can be completed, and then means that store on the same connection.
private func checkAddress(_ text: String) {
  guard let address = try? SharedAddress(text) else { return }
  if let store = address.store {
    if store.isEmpty || (try? address.naming("a")) != nil { fail("store '\(store)' of \(text)") }
  } else if (try? address.naming("a").storeName) != "a" || (try? address.storeName) != nil {
    fail("no store can be named: \(text)")
  }
  // What is left of it names no store.
  guard let rest = try? SharedAddress(address.connection) else { fail("\(address.connection) of \(text)") }
  if rest.store != nil || !rest.connection.utf8.elementsEqual(address.connection.utf8) {
    fail("\(address.connection), then \(rest.connection), of \(text)")
  }
  if address.engine == .etcd { checkEtcd(address.connection) }
}

/// The address that a folder keeps leads to the same members.
private func checkEtcd(_ text: String) {
  guard let address = try? EtcdAddress(text) else { return }
  let kept = address.text(of: "a&b")
  guard let again = try? SharedAddress(kept), again.store == "a&b",
    let found = try? EtcdAddress(again.connection)
  else { fail("refused: \(kept)") }
  if found.endpoints != address.endpoints || found.prefix != address.prefix || found.user != address.user {
    fail("\(text) is kept as \(kept)")
  }
}
