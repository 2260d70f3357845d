import FileDB
import FileDBPlist

extension RecordStore {
  /// In the folder of a shared store: the files that people see, as a store of their own. `nil` for any other store.
  var visibleFiles: RecordStore? {
    get throws { shownFiles == nil ? nil : try RecordStore(at: url, options: StoreUse.once.options) }
  }

  /// The names of the store's tables, and of those that only people see.
  var visibleNames: [String] {
    get throws {
      let visible = try visibleFiles?.tableNames ?? []
      return Set((try tableNames + visible).map { TableKey($0) }).sorted().map(\.text)
    }
  }
}

extension RecordStore {
  /// Whether there is a file of a table, even if nobody can read it.
  func hasFile(of table: String) throws -> Bool {
    try tableNames.contains { compareUTF8($0, table) == 0 }
  }
}

extension RecordStore {
  /// Why the file of this name is no table; `nil` if it is one, or if there is none.
  func strayMessage(for table: String) throws -> String? {
    guard url.isFileURL, let stray = StrayFile(file: "\(table).plist") ?? StrayFile(file: table),
      try strayFiles.contains(where: { compareUTF8($0.file, stray.file) == 0 })
    else { return nil }
    return "\(stray.message); './\(stray.file)' is its path"
  }
}

extension JournalCopy {
  /// What it is, and what waits in it.
  fileprivate var message: String {
    let name = "'.filedb/\(TerminalText.defused(file))' is \(kind)"
    do throws(StoreError) {
      let names = try tables.map { "'\(TerminalText.defused($0))'" }
      return names.isEmpty
        ? "\(name): a journal in which nothing waits; you can delete it"
        : "\(name): a journal with commits to \(names.joined(separator: ", ")) that the store may not have"
    } catch {
      return "\(name): a journal that cannot be read: \(error.message)"
    }
  }
}

extension Terminal {
  /// Names the files of a store's folder that look like tables or like the journal, but that editors and sync services
  /// made.
  static func noteStrayFiles(in store: RecordStore) throws {
    let (strays, journals) = (try store.strayFiles, try store.journalCopies)
    for stray in strays { note(stray.message) }
    for journal in journals { note(journal.message) }
    let copies =
      strays.count { $0.original != nil } + journals.count { (try? $0.tables)?.isEmpty == false }
    guard copies > 0 else { return }
    note(
      "'filedb conflicts merge' merges the \(copies == 1 ? "copy into its table" : "copies into their tables")"
    )
  }

  /// Names the tables that may be copies of others: their names and at least half of their records tell.
  static func notePossibleCopies(in store: RecordStore) throws {
    let names = try store.tableNames
    for name in names {
      guard let original = StrayFile.possibleOriginal(ofTable: name), names.contains(original) else {
        continue
      }
      let copy = try store.table(name).snapshot()
      let records = try store.table(original).snapshot()
      let same = copy.count { records[id: $0.id] == $0 }
      guard same > 0, same * 2 >= copy.count else { continue }
      let file = ShellText.word(try store.url(of: name).path)
      note(
        "'\(TerminalText.defused(name))' may be a copy of '\(TerminalText.defused(original))': \(same) of its "
          + "\(copy.count.counted("record")) are the same. This merges it: "
          + "filedb conflicts merge \(ShellText.word(original)) --copy \(file)")
    }
  }

  /// Names the files in the folder of a shared store that somebody has edited, if the store does not have the edits yet.
  /// - Parameter tables: the tables that the command is about; `nil` for all.
  static func noteEdits(in store: RecordStore, of tables: [String]? = nil) {
    guard let edited = try? store.shownFiles?.editedTables(among: tables), !edited.isEmpty else { return }
    let names = edited.map { "'\(TerminalText.defused($0))'" }.joined(separator: ", ")
    note(
      edited.count == 1
        ? "the file of \(names) was edited; 'filedb shared sync' puts the edit into the store"
        : "the files of \(names) were edited; 'filedb shared sync' puts the edits into the store")
  }
}
