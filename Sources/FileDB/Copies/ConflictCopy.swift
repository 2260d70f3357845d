import FileDBEssentials
import FileDBTables

/// A copy of a table's file or of the journal that a sync service made, because two machines had changed the file before
/// either had the other's version. See <doc:SyncedFolders>.
public struct ConflictCopy: Sendable {
  /// The copy's file. A copy of the journal counts as a copy of each table for which commits wait in it.
  public let url: URL
  /// The name of the table that it is a copy of. The table may not exist.
  public let table: String
  /// What it is, such as "Syncthing's copy of a conflict".
  public let kind: String
  /// The version that both machines began with, if you have it, for example from a backup. With it, a merge knows what
  /// was deleted, and which of two values is the older one.
  public var base: TableSnapshot<Fields>?
  /// What the file's name says about the machine that the copy came from.
  let machine: String
  /// Whether the file's name tells that it is a copy.
  let isRecognized: Bool
  /// `nil` for a copy of a table's file.
  let journal: JournalCopy?

  /// For a copy that ``RecordStore/conflictCopies`` does not recognize by its name, such as `todo 2.plist`.
  public init(of table: String, at url: URL, base: TableSnapshot<Fields>? = nil) {
    (self.table, self.url, self.base) = (table, url, base)
    (kind, machine, isRecognized, journal) = ("a copy", "", false, nil)
  }

  /// - Returns: `nil` for a file that is no copy of a table. No service makes a link: it could lead out of a stranger's
  ///   folder, to records that are nothing to merge with the stranger's.
  fileprivate init?(_ stray: StrayFile, in folder: StoreFolder) {
    let path = "\(folder.path)/\(stray.file)"
    guard let original = stray.original, !original.isEmpty, original != StoreFolder.suffix,
      (try? folder.disk.status(path))?.isLink == false
    else { return nil }
    (table, url) = (folder.table(of: original), URL(fileURLWithPath: path))
    (kind, machine, isRecognized, journal) = (stray.kind, stray.machine, true, nil)
  }

  fileprivate init(of table: String, in journal: JournalCopy) {
    (self.table, url, self.journal) = (table, URL(fileURLWithPath: journal.path), journal)
    (kind, machine, isRecognized) = (journal.kind, journal.machine, true)
  }
}

extension RecordStore {
  /// The copies that sync services made of the store's tables, in the order of their names, and of its journal.
  /// ``merge(_:)`` merges them. A copy of the journal that cannot be read, perhaps because only a part of it has arrived,
  /// is left out.
  /// - Throws: the disk's errors.
  /// - Complexity: O(*n*) in the files of the folder, and in the size of the copies of the journal.
  public var conflictCopies: [ConflictCopy] {
    get throws {
      guard let folder = visibleFolder else { return [] }
      let ofTables = try folder.strayFiles().compactMap { ConflictCopy($0, in: folder) }
      let ofJournals = try journalCopies.flatMap { journal in
        ((try? journal.tables) ?? []).map { ConflictCopy(of: $0, in: journal) }
      }
      return ofTables + ofJournals
    }
  }

  /// The ``conflictCopies`` that are there, and then those that appear or grow: each element has the copies that its
  /// predecessor did not have with the same size. FileDB looks for copies only while somebody observes.
  public func newConflictCopies() -> ChangeSequence<[ConflictCopy]> {
    ChangeSequence(of: self, .conflictCopies) { [weak self] in
      var seen: Set<String> = []
      return {
        // If the folder cannot be listed now, the next look tries again.
        guard let self, let disk = self.visibleFolder?.disk, let copies = try? self.conflictCopies else {
          return nil
        }
        // A copy that arrives in parts is complete only later.
        let states = copies.map {
          "\((try? disk.status($0.url.path))?.stamp.size ?? 0) \($0.url.path) \($0.table)"
        }
        defer { seen = Set(states) }
        let new = zip(copies, states).filter { !seen.contains($1) }.map(\.0)
        return new.isEmpty ? nil : new
      }
    }
  }

  /// Merges copies of tables into these tables, record by record and in one transaction, and then moves the copies that
  /// have brought changes into `.filedb/backups`.
  ///
  /// - A record that only one of the two has is in the result. Without a ``ConflictCopy/base``, nobody can tell whether
  ///   the other machine has deleted it or has never had it.
  /// - A record that both have, with different values in some fields, keeps the table's values. Each such field is a
  ///   conflict, and `filedb conflicts` settles it. A field that only one of the two has is in the result.
  /// - If the two machines gave the same id to different records, the table has both, and the one from the copy gets a
  ///   new id. References to it from records of copies of the same machine follow.
  /// - The order of the records is the table's. What comes from the copy goes below the record that is above it there.
  /// - Of a copy of the journal, the table's file with the commits that wait in the copy is merged in the same way. It is
  ///   moved when all tables for which commits wait are merged.
  ///
  /// FileDB then makes a checkpoint. A copy stays in the folder if the merge has not changed the table's file, or if
  /// that is now equal to the copy: the service may be about to replace the file by one that lacks what the copy has.
  /// Remove such a copy when all machines have the same files. A copy outside the folder stays, too, and so does one
  /// that another program changes meanwhile.
  /// - Returns: what became of each copy, in the same order.
  /// - Throws: ``StoreError/Code/insideWrite`` inside a write; ``StoreError/Code/tableNotFound`` if there is no such
  ///   table; ``StoreError/Code/tableExists`` for a file that is itself a table with commits of its own;
  ///   ``StoreError/Code/readOnly`` for a table over an attached one; for a copy that cannot be read, as
  ///   `TableSnapshot(contentsOf:)`; as `write(_:)`, for example if the result breaks a rule of the table's schema. Then
  ///   nothing is changed. If only the conflicts cannot be kept, it throws the disk's error after the merge, and the
  ///   copies stay.
  /// - Complexity: O(*n* log *n*) in the records.
  @discardableResult
  public func merge(_ copies: [ConflictCopy]) throws -> [ConflictCopyMerge] {
    let merge = try ConflictCopiesMerge(copies, in: self)
    let merged = try write { transaction in try merge.carryOut(in: &transaction) }
    return try merge.finish(merged)
  }
}

extension UndoLog {
  /// Merges copies as ``RecordStore/merge(_:)`` does, in one undo step. An undo leaves the copies in the backups.
  /// - Parameters:
  ///   - copies: the copies.
  ///   - skip: called with the error of a copy that cannot be merged. If it does not throw, the others are merged without
  ///     it. By default, it throws.
  /// - Returns: what became of each copy, and the step; `nil` if nothing has changed.
  /// - Throws: as ``RecordStore/merge(_:)``.
  /// - Complexity: as ``RecordStore/merge(_:)``.
  @discardableResult
  public func merge(
    _ copies: [ConflictCopy], skipping skip: (StoreError) throws -> Void = { throw $0 }
  ) throws -> (merges: [ConflictCopyMerge], entry: Entry?) {
    let merge = try ConflictCopiesMerge(copies, in: store, skipping: skip)
    let (merges, entry) = try loggedWrite(named: merge.name) { transaction in
      try merge.carryOut(in: &transaction)
    }
    return (try merge.finish(merges), entry)
  }
}

/// What ``RecordStore/merge(_:)`` has done with a copy.
public struct ConflictCopyMerge: Sendable {
  /// The copy.
  public let copy: ConflictCopy
  /// The ids of the records that the table has from the copy, in the order of the table.
  public let added: [AnyRecordID]
  /// The ids of the records whose fields have changed, in the order of the table.
  public let changed: [AnyRecordID]
  /// The ids of the records that the table has no longer. Empty without a ``ConflictCopy/base``.
  public let removed: [AnyRecordID]
  /// The conflicts. The table has its own version.
  public internal(set) var conflicts: [MergeConflict]
  /// The records that have another id than in the copy or in the table before.
  public let renumbered: [MergeRenumbering]
  /// The keys in the root of the file, such as that of the schema, for which the copy has another value. The table
  /// keeps its own.
  public let otherKeys: [String]
  /// Where the copy is now; `nil` if it has stayed where it was.
  public internal(set) var backup: URL?

  /// Whether the table has anything from the copy.
  public let hasBroughtChanges: Bool

  /// Why the table's file could not be written, or the copy not be moved; `nil` if there was no error.
  public internal(set) var failure: StoreError?

  /// The table before and after the merge of this copy.
  let before: TableState
  let after: TableState
  /// The table's file before the merges, and as a checkpoint then writes it.
  var fileBefore: FileVersion?
  var fileAfter: FileVersion?
}
