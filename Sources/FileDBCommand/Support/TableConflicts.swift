import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

/// The conflicts of a table's last merge that have not been settled.
struct TableConflicts {
  let store: RecordStore
  let name: String
  /// In the order of the merge's report.
  let open: [MergeConflict]
  /// This includes conflicts that are settled although the table shows no change.
  private let kept: OpenConflicts

  /// - Throws: ``StoreError/Code/conflictMarkers`` for a file that has not been merged record by record yet.
  init(_ name: String, in store: RecordStore) throws {
    try self.init(name, in: store, UnmergedFile(store.url(of: name)))
  }

  private init(_ name: String, in store: RecordStore, _ unmerged: UnmergedFile?) throws {
    (self.store, self.name) = (store, name)
    let snapshot = try store.table(name).snapshot()
    let known: OpenConflicts?
    // If git still has both versions, they say what the conflicts are.
    do { known = try store.openConflicts(of: name) } catch StoreError.Code.damagedTable where unmerged != nil
    {
      known = nil
    }
    if let known, known.gitVersions == unmerged?.identity {
      kept = known
    } else {
      // Conflicts of a merge that git has finished or given up do not count any more.
      let conflicts = try unmerged?.merge()?.conflicts ?? []
      kept = OpenConflicts(gitVersions: unmerged?.identity, conflicts: conflicts)
    }
    open = kept.conflicts.filter { $0.isOpen(in: snapshot) }
  }

  static func all(in store: RecordStore) throws -> [TableConflicts] {
    let unmerged = UnmergedFile.all(in: store.url)
    return try store.tableNames.map { name in
      try TableConflicts(name, in: store, unmerged[TableKey(store.url(of: name).lastPathComponent)])
    }
  }

  /// Whether they come from an edit in the folder of a shared store.
  var isOfEdits: Bool { store.shownFiles != nil && !isUnmerged && !open.isEmpty }

  /// Whether git lists the file as unmerged.
  var isUnmerged: Bool { kept.gitVersions != nil }

  /// The conflicts of records and fields: `ID` or `ID.FIELD`.
  /// - Throws: ``StoreError/Code/recordNotFound`` if there is no such conflict.
  func conflicts(named targets: [String]) throws -> [MergeConflict] {
    try targets.flatMap { target in
      let (number, field) = target.cut(at: ".") ?? (target, nil)
      guard let id = AnyRecordID(number) else {
        throw ValidationError("'\(target)' is neither ID nor ID.FIELD.")
      }
      let found = open.filter { conflict in
        conflict.record == id && (field == nil || conflict.field == field)
      }
      guard !found.isEmpty else {
        throw StoreError(
          .recordNotFound, "there is no conflict that is not settled", table: name, record: id,
          field: field)
      }
      return found
    }
  }

  /// Forgets what was settled in an earlier merge of a table's file. It may be the same merge, which was given up.
  static func forgetAll(of path: String) {
    let file = URL(fileURLWithPath: path)
    let (folder, name) = (file.deletingLastPathComponent(), TableReference(argument: "./" + path).name)
    guard FileInfo.isStore(folder), let store = try? RecordStore(at: folder),
      store.hasKeptConflicts(of: name)
    else { return }
    try? store.keep(OpenConflicts(gitVersions: nil, conflicts: []), of: name)
  }

  /// Records which conflicts are settled although the table has not changed.
  func forget(_ settled: [MergeConflict]) throws {
    var rest = kept
    let subjects = Set(settled.map(\.subject))
    rest.conflicts.removeAll { subjects.contains($0.subject) }
    // The store that wrote is closed.
    try StoreReference.folder(store.url).open(for: .once).keep(rest, of: name)
  }
}

extension RecordStore {
  /// Whether conflicts of a table are kept, also if they cannot be read.
  func hasKeptConflicts(of table: String) -> Bool {
    do { return try openConflicts(of: table) != nil } catch { return true }
  }
}

extension MergeConflict {
  /// What a conflict is about.
  struct Subject: Hashable {
    let record: AnyRecordID?
    let field: String?
  }

  /// The field that the conflict is about; `nil` for the whole record, and for the order.
  var field: String? {
    switch kind {
    case .field(let name, _, _, _), .rule(let name, _): name
    case .deletedByOurs, .deletedByTheirs, .order: nil
    }
  }

  var subject: Subject { Subject(record: record, field: field) }
}
