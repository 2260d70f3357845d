import FileDBPlist
import Foundation
import FuzzSupport

// Testable, so that a log can be asked again as if nobody had asked before.
@testable import FileDB
@testable import FileDBCluster
@testable import FileDBTables

// An input tells what is to be changed in the keys of a store in etcd, and, behind a zero, in the answers about them.
@main enum FuzzEtcd {
  static func main() { runFuzzer(test) }
}

private let token = "0123456789abcdef0123456789abcdef"

/// The values of the keys of a store with one table in its base, and three commits behind that.
private let sample: PlistValue = {
  let records = [EncodedRecord(id: AnyRecordID(rawValue: 1)!, fields: ["n": 1])]
  let file = TableFile.encode(TableState(counter: 3, records: records, foreignKeys: [:]))
  let tokens = ["11111111111111111111111111111111", "22222222222222222222222222222222", token]
  func payload(_ change: Change, _ token: String) -> [UInt8] {
    JournalCommit(
      date: Date(timeIntervalSince1970: 1e9), token: CommitToken(text: token[...]),
      tables: [TableKey("t"): .init(sequence: nil, base: nil)],
      changes: [LoggedChange(change, of: TableKey("t"), found: .nothing)]
    ).payload()
  }
  var keys: PlistDictionary = [
    "format": "1", "identity": "a-store", "head": .string("5 \(token)"), "start": .string("2 \(token)"),
    "base": .string("2 \(token)"), "keep": "604800",
    "tables": .string("t 3 1 file \(file.count)\nu 7\n"),
    "pieces/file/0000000000000000": .string(String(decoding: file, as: UTF8.self)),
  ]
  let changes: [Change] = [
    .insert([EncodedRecord(id: AnyRecordID(rawValue: 4)!, fields: ["n": 2])], index: 0),
    .move(AnyRecordID(rawValue: 1)!, index: 0), .removeAll,
  ]
  for (number, (change, token)) in zip(3..., zip(changes, tokens)) {
    let payload = payload(change, token)
    let text = String(decoding: payload, as: UTF8.self)
    let key = "commits/000000000000000\(number)"
    keys[key] = .string(
      number == 4 ? "\(token) 1000000000 \(payload.count)\n" : "\(token) 1000000000\n\(text)")
    if number == 4 { keys["parts/\(token)/0000000000000000"] = .string(text) }
  }
  return .dict(keys)
}()

private let server = FakeEtcd()
private let log: EtcdLog = {
  do {
    return try EtcdLog("etcd://127.0.0.1:\(server.start())", store: "s", timeout: .seconds(5))
  } catch {
    fail("\(error)")
  }
}()

private func test(_ bytes: [UInt8]) -> Bool {
  let keyChanges = Array(bytes.prefix { $0 != 0 })
  server.begin(sample.changed(by: keyChanges), Array(bytes.dropFirst(keyChanges.count + 1)))
  log.seen.withLock { $0 = nil }
  log.floor.withLock { $0 = nil }
  var choices = Choices(bytes)
  switch choices.next(below: 6) {
  case 0: asked { _ = (try log.identity(), try log.status()) }
  case 1: asked { _ = (try log.tables(), try log.droppedTables()) }
  case 2: asked { _ = try log.outcome(of: CommitToken(text: token[...])!) }
  case 3:
    let known = TableVersion(state: TableState(), lineage: 0, through: 0)
    asked { _ = try log.base(of: TableKey("t"), unless: known) }
  case 4:
    asked { if case .commits(let commits) = try log.commits(after: 2) { checkCommits(commits, after: 2) } }
  default: asked(follow)
  }
  return true
}

/// An answer means something, or is refused with an error of the store.
private func asked(_ body: () throws -> Void) {
  do { try body() } catch is StoreError {} catch { fail("\(error)") }
}

/// As a new folder does it.
private func follow() throws {
  var tables: [TableKey: TableState] = [:]
  var last = try log.bases { tables[$0] = $1 }
  while true {
    switch try log.news(after: last) {
    case .startOver: return
    case .commits(let commits), .more(let commits):
      checkCommits(commits, after: last.sequence)
      guard let end = commits.last else { return }
      for change in commits.flatMap(\.changes) {
        try tables[change.table, default: TableState()].apply(change)
      }
      last = FollowedCommit(sequence: end.sequence)
    }
  }
}

/// No commit is missing, or comes twice.
private func checkCommits(_ commits: [LoggedCommit], after last: UInt64) {
  let isWhole = zip(1..., commits).allSatisfy { $1.sequence == last + $0 }
  if !isWhole { fail("commits \(commits.map(\.sequence)) after \(last)") }
}
