import FileDBEssentials
import FileDBPlist

/// The steps that can be undone and redone, each identified by its commit. The next step is the last one.
struct UndoHistory {
  var undo: [CommitToken] = []
  var redo: [CommitToken] = []
  /// Whether older steps were left out.
  var isCutOff = false
  /// The largest size that the tables had lately.
  var peak = TablesPeak()

  /// The steps that can be undone, or those that can be redone.
  subscript(direction: UndoLog.Direction) -> [CommitToken] {
    get { direction == .undo ? undo : redo }
    set { if direction == .undo { undo = newValue } else { redo = newValue } }
  }
}

/// The size of a store's tables when they were largest. What deletes most of them leaves small ones.
struct TablesPeak {
  /// How long it counts, in seconds.
  static let duration = 86_400.0

  var bytes = 0
  /// A property list cannot hold a date in the distant past.
  var date = Date(timeIntervalSinceReferenceDate: 0)

  func next(bytes: Int) -> TablesPeak {
    let now = Date()
    let isPast = now.timeIntervalSince(date) > Self.duration
    return isPast || bytes >= self.bytes ? TablesPeak(bytes: bytes, date: now) : self
  }
}

/// A step of the log, without its changes. The keys of its file are the names of these properties.
struct KeptStep: Codable {
  let name: String
  let date: Date
  let tables: [String]
  private let undo: String
  private let redo: String
  private let peak: Int
  private let peakDate: Date

  init(name: String, tables: [String], history: UndoHistory) {
    (self.name, date, self.tables) = (name, Date(), tables)
    undo = history.undo.map(\.text).joined(separator: " ")
    redo = history.redo.map(\.text).joined(separator: " ")
    (peak, peakDate) = (history.peak.bytes, history.peak.date)
  }

  /// What can be undone and redone after this step's commit.
  var history: UndoHistory {
    func tokens(_ text: String) -> [CommitToken] {
      text.split(separator: " ").compactMap { CommitToken(text: $0) }
    }
    // The number may come from a stranger, and is doubled.
    let peak = TablesPeak(bytes: min(max(peak, 0), .max / 2), date: peakDate)
    return UndoHistory(undo: tokens(undo), redo: tokens(redo), peak: peak)
  }
}

/// A table's file cannot be kept for undo, because commits are missing in it.
struct FileIsBehind: Error {}

/// The files of a store's undo log, as they are when this is made.
///
/// The journal names the newest step, and that step names the others. So files that a crash left, or that come back
/// after a power cut, are never taken for steps.
struct UndoFiles {
  /// How to keep many deleted records.
  enum Keeping { case oldFiles, copies }

  /// The most steps that are kept.
  static let limit = 100
  /// A log up to this size is kept, whatever the size of the tables. A larger step is a large one.
  static let smallestSize = 1 << 20
  /// If the deleted records have more bytes than this, the table's old file is kept instead.
  static let mostCopiedBytes = 1 << 20

  /// The history according to the journal, as far as it has been read. If the files of a step are gone, that step and
  /// all before it are left out.
  private(set) var history = UndoHistory()
  private let store: RecordStore
  private let folder: StoreFolder
  /// The names of the files by the commits they belong to.
  private let names: [CommitToken: [String]]

  init(_ store: RecordStore) throws(StoreError) {
    (self.store, folder) = (store, try store.folder)
    // In this order: another thread may be about to add a step and its commit.
    let head = try store.fileLog.undoHead
    names = try folder.undoFiles()
    guard let head else { return }
    guard let newest = try step(head) else {
      history.isCutOff = true
      return
    }
    history = newest.history
    for direction in [UndoLog.Direction.undo, .redo] {
      guard let lost = history[direction].lastIndex(where: { names[$0] == nil }) else { continue }
      history[direction].removeSubrange(...lost)
      history.isCutOff = true
    }
  }

  private var limits: PlistLimits { UndoStep.limits(store.options.limits) }

  // MARK: - Reading

  /// - Returns: `nil` if a step cannot be read.
  func step(_ token: CommitToken) throws(StoreError) -> KeptStep? {
    guard let bytes = try folder.readUndo(.step, among: names[token] ?? []) else { return nil }
    return (try? PlistParser.parse(bytes, limits: limits)).flatMap {
      try? ElementDecoder($0).decode(KeptStep.self)
    }
  }

  func entry(_ token: CommitToken) throws(StoreError) -> UndoLog.Entry {
    UndoLog.Entry(token, try step(token))
  }

  /// - Throws: ``StoreError/Code/undoStepLost`` if they cannot be read.
  func changes(_ token: CommitToken) throws(StoreError) -> UndoStep {
    guard let bytes = try folder.readUndo(.changes, among: names[token] ?? []),
      var step = bytes.withUnsafeBytes({ UndoStep($0, limits: store.options.limits) })
    else { throw unreadable(folder.undoFolder) }
    for (key, table) in step.tables {
      guard let former = table.former else { continue }
      let state = try read(former, of: key)
      step.tables[key]?.removed = try former.removed.map { id throws(StoreError) in
        let index = try state.index(of: id)
        return TableUndo.Removed(record: state.records[index], position: state.formerPosition(at: index))
      }
    }
    return step
  }

  private func read(_ former: FormerFile, of key: TableKey) throws(StoreError) -> TableState {
    let file = "\(folder.undoFolder)/\(former.name)"
    let bytes: [UInt8]
    do throws(StoreError) { bytes = try folder.disk.read(file).bytes } catch
      where error.code == .fileNotFound
    {
      throw unreadable(file)
    }
    // A program that overwrites a file in place changes the kept one, too.
    guard FileVersion(bytes) == former.version else { throw unreadable(file) }
    return try TableFile.decode(bytes, file: file, table: key.text, limits: store.options.limits)
  }

  private func unreadable(_ file: String) -> StoreError {
    StoreError(
      .undoStepLost, "this cannot be undone: a file that the step needs is missing or has changed",
      file: file)
  }

  // MARK: - Writing

  /// Removes the files of steps that are not part of the log: their commits failed, or they are too old. Needs the
  /// store's lock: another writer's step is there before its commit.
  func removeNeedless() throws(StoreError) {
    let needed = Set(history.undo + history.redo + [try store.fileLog.undoHead].compactMap(\.self))
    folder.removeUndoFiles(names.filter { !needed.contains($0.key) }.values.joined())
  }

  /// Writes the files of a step, before its commit. The needless ones are removed first, because a full disk may have
  /// no space otherwise. If this throws, files of the step may be left.
  /// - Throws: ``FileIsBehind`` if a table's old file must be kept and commits are missing in it; the disk's errors.
  func keep(
    _ changes: UndoStep, named name: String, with history: UndoHistory, in transaction: TransactionState,
    _ keeping: Keeping
  ) throws {
    try removeNeedless()
    var changes = changes
    if keeping == .oldFiles {
      try changes.replaceManyRecords { key, number in try keepFile(of: key, for: transaction, number) }
    }
    let step = try document(KeptStep(name: name, tables: changes.tableNames, history: history))
    try folder.writeUndo(.changes, changes.document, of: transaction.token)
    try folder.writeUndo(.step, [step], of: transaction.token)
    transaction.undo = .step
  }

  private func document(_ step: KeptStep) throws -> [UInt8] {
    let plist = try FieldsEncoder.encodeWithoutVersion(step).dictionary
    do { return try PlistWriter.document(.dict(plist), limits: limits) } catch {
      throw StoreError(
        .unrepresentableValue, "the name of the step, or of a table, cannot be kept: \(error.message)")
    }
  }

  /// Checks that the disk has space for what ``keep(_:named:with:in:_:)`` would write. Writes nothing.
  /// - Throws: ``StoreError/Code/diskFull``.
  func checkRoom(for changes: UndoStep) throws {
    var changes = changes
    // A table's old file only gets a second name, which takes no space.
    if store.options.checkpoints != .manual { changes.replaceManyRecords { _, _ in ("", .absent) } }
    let step = KeptStep(name: changes.summary, tables: changes.tableNames, history: history)
    let pieces = changes.document + [try document(step)]
    try folder.checkRoomForUndo(pieces.reduce(0) { $0 + $1.count })
  }

  private func keepFile(
    of table: TableKey, for transaction: TransactionState, _ number: Int
  ) throws -> (name: String, version: FileVersion) {
    guard let own = transaction.touched[table]?.table.own, let file = try store.fileLog.wholeFile(of: table),
      file.lineage == own.lineage, file.content.version != .absent
    else { throw FileIsBehind() }
    let name = try folder.keepForUndo(file.path, of: transaction.token, number: number)
    return (name, file.content.version)
  }

  /// The history without its oldest steps, so that there is space for another one. The newest large step stays. It is
  /// used only before a new write: undoing and redoing must not lose steps.
  /// - Returns: also the steps that would take too much space, the newest first.
  func historyWithRoom(
    for step: UndoStep
  ) throws(StoreError) -> (history: UndoHistory, discarded: [UndoLog.Entry]) {
    let peak = history.peak.next(bytes: try folder.sizeOfTables())
    var room = max(Self.smallestSize, 2 * peak.bytes)
    var hasLarge = step.tables.values.reduce(0) { $0 + $1.removedBytes } > Self.smallestSize
    var (kept, tooLarge) = ([CommitToken](), [CommitToken]())
    for token in history.undo.reversed() {
      let size = try folder.size(ofUndoFiles: names[token] ?? [])
      if !hasLarge, size > Self.smallestSize {
        hasLarge = true
        kept.append(token)
        continue
      }
      room -= size
      if room < 0 { tooLarge.append(token) } else if kept.count < Self.limit - 1 { kept.append(token) }
    }
    let discarded = try tooLarge.map { token throws(StoreError) in try entry(token) }
    return (UndoHistory(undo: kept.reversed(), peak: peak), discarded)
  }
}

extension UndoStep {
  /// Names a table's old file instead of the records that the write removed from it, if these are many.
  fileprivate mutating func replaceManyRecords(
    by file: (TableKey, _ number: Int) throws -> (name: String, version: FileVersion)
  ) rethrows {
    for (number, (key, table)) in tables.sorted(by: { $0.key < $1.key }).enumerated()
    where table.removedBytes > UndoFiles.mostCopiedBytes {
      let (name, version) = try file(key, number)
      tables[key]?.former = FormerFile(name: name, version: version, removed: table.removed.map(\.record.id))
    }
  }
}
