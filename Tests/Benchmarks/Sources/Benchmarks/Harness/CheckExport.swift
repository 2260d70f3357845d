import ArgumentParser
import FileDB
import FileDBSQLite
import Foundation
import GRDB

/// Measures nothing. It is here because no other package has GRDB.
struct CheckExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Check that GRDB reads a table that FileDB exported.")

  func run() throws {
    let folder = Places.package.appendingPathComponent(".build/export")
    try? FileManager.default.removeItem(at: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let sample = try Sample.make(in: folder, records: 1_000)
    let store = try RecordStore(at: sample.store)
    let file = folder.appendingPathComponent("sample.sqlite")
    try SQLiteExport(to: file, table: "sample").run(store.table(.sample).snapshot())
    let entries = try DatabaseQueue(path: file.path).read { db in
      try Entry.fetchAll(db, sql: "SELECT * FROM sample ORDER BY position")
    }
    try sample.check(entries)
    print("GRDB reads the \(entries.count) records as they were.")
  }
}

extension Entry: FetchableRecord {}
