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

  /// Removes and returns the next step of one kind.
  mutating func take(_ direction: UndoLog.Direction) -> CommitToken? {
    switch direction {
    case .undo: undo.popLast()
    case .redo: redo.popLast()
    }
  }

  /// Removes one of the steps.
  /// - Returns: `nil` if there is no such step.
  mutating func take(_ direction: UndoLog.Direction, _ id: UndoLog.Entry.ID) -> CommitToken? {
    let steps = direction == .undo ? undo : redo
    guard let index = steps.lastIndex(where: { $0.text == id }) else { return nil }
    return direction == .undo ? undo.remove(at: index) : redo.remove(at: index)
  }

  /// Adds the step that reverses a step of one kind.
  mutating func add(_ token: CommitToken, against direction: UndoLog.Direction) {
    switch direction {
    case .undo: redo.append(token)
    case .redo: undo.append(token)
    }
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

/// A step of the log, without its changes.
struct KeptStep {
  let name: String
  var date = Date()
  let tableNames: [String]
  /// What can be undone and redone after this step's commit.
  var history: UndoHistory
}

/// A table's file cannot be kept for undo, because commits are missing in it.
struct FileIsBehind: Error {}

/// The files of a store's undo log.
///
/// The journal names the newest step, and that step names the others. So files that a crash left, or that come back
/// after a power cut, are never taken for steps.
struct UndoFiles: Sendable {
  /// How to keep many deleted records.
  enum Keeping { case oldFiles, copies }

  /// The most steps that are kept.
  static let limit = 100
  /// A log up to this size is kept, whatever the size of the tables. A larger step is a large one.
  static let smallestSize = 1 << 20
  /// If the deleted records have more bytes than this, the table's old file is kept instead.
  static let mostCopiedBytes = 1 << 20

  private let store: RecordStore

  init(_ store: RecordStore) { self.store = store }

  func isThere() throws(StoreError) -> Bool { try store.fileLog.undoHead != nil }

  /// - Returns: the history according to the journal, as far as it has been read. If the files of a step are gone, that
  ///   step and all before it are left out.
  func history() throws(StoreError) -> UndoHistory {
    guard let head = try store.fileLog.undoHead else { return UndoHistory() }
    let files = try store.folder.undoFiles()
    guard var history = try step(files[head] ?? [])?.history else { return UndoHistory(isCutOff: true) }
    if let lost = history.undo.lastIndex(where: { files[$0] == nil }) {
      history.undo.removeSubrange(...lost)
      history.isCutOff = true
    }
    if let lost = history.redo.lastIndex(where: { files[$0] == nil }) {
      history.redo.removeSubrange(...lost)
      history.isCutOff = true
    }
    return history
  }

  /// - Returns: `nil` if a step cannot be read.
  func step(_ token: CommitToken) throws(StoreError) -> KeptStep? {
    try step(store.folder.undoFiles()[token] ?? [])
  }

  private func step(_ names: [String]) throws(StoreError) -> KeptStep? {
    guard let bytes = try store.folder.readUndo(.step, among: names) else { return nil }
    return (try? PlistParser.parse(bytes, limits: limits))?.dict.flatMap { KeptStep($0) }
  }

  /// - Throws: ``StoreError/Code/undoStepLost`` if they cannot be read.
  func changes(_ token: CommitToken) throws(StoreError) -> UndoStep {
    let names = try store.folder.undoFiles()[token] ?? []
    guard let bytes = try store.folder.readUndo(.changes, among: names),
      let step = try bytes.withUnsafeBytes({ document in
        Result { () throws(StoreError) in
          try UndoStep(
            document, limits: limits, reading: { key, file throws(StoreError) in try former(key, file) })
        }
      }).get(), step.fits(store.options.limits)
    else { throw unreadable(try store.folder.undoFolder) }
    return step
  }

  private var limits: PlistLimits { UndoStep.limits(store.options.limits) }

  private func former(_ key: TableKey, _ former: FormerFile) throws(StoreError) -> TableState {
    let file = try "\(store.folder.undoFolder)/\(former.name)"
    let bytes: [UInt8]
    do throws(StoreError) { bytes = try store.folder.disk.read(file).bytes } catch
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

  /// Removes the files of steps that are not part of the log: their commits failed, or they are too old. This runs
  /// first, because a full disk may have no space otherwise.
  func removeNeedless() throws(StoreError) {
    let history = try history()
    let needed = Set(history.undo + history.redo + [try store.fileLog.undoHead].compactMap(\.self))
    let folder = try store.folder
    folder.removeUndoFiles(try folder.undoFiles().filter { !needed.contains($0.key) }.values.joined())
  }

  /// Writes the files of a step, before its commit.
  /// - Throws: ``FileIsBehind`` if a table's old file must be kept and commits are missing in it; the disk's errors.
  func keep(
    _ changes: UndoStep, named name: String, with history: UndoHistory, in transaction: TransactionState,
    _ keeping: Keeping
  ) throws {
    let folder = try store.folder
    let token = transaction.token
    try removeNeedless()
    do {
      var files: [TableKey: FormerFile] = [:]
      if keeping == .oldFiles {
        for (number, table) in changes.tables.sorted(by: { $0.key < $1.key }).enumerated()
        where table.value.removedBytes > Self.mostCopiedBytes {
          files[table.key] = try keepFile(of: table.key, for: transaction, number)
        }
      }
      let step = KeptStep(name: name, tableNames: changes.tableNames, history: history)
      try folder.writeUndo(.changes, document(changes, files), of: token)
      try folder.writeUndo(.step, document(step), of: token)
      transaction.undo = .step
    } catch {
      remove(token)
      throw error
    }
  }

  private func document(
    _ changes: UndoStep, _ files: [TableKey: FormerFile]
  ) throws(StoreError) -> [[UInt8]] {
    do { return try changes.document(files, limits: limits) } catch {
      // All values have been written before.
      throw StoreError(.unrepresentableValue, "the step cannot be kept: \(error.message)")
    }
  }

  private func document(_ step: KeptStep) throws(StoreError) -> [[UInt8]] {
    do { return [try PlistWriter.document(.dict(step.plist), limits: limits)] } catch {
      throw StoreError(.unrepresentableValue, "the name of the step cannot be kept: \(error.message)")
    }
  }

  /// Checks that the disk has space for what ``keep(_:named:with:in:_:)`` would write. Writes nothing.
  /// - Throws: ``StoreError/Code/diskFull``.
  func checkRoom(for changes: UndoStep, named name: String) throws {
    let step = KeptStep(name: name, tableNames: changes.tableNames, history: try history())
    // A table's old file only gets a second name, which takes no space.
    let linked = changes.tables.filter { keepsOldFile($0.value) }
      .mapValues { _ in FormerFile(name: "", version: .absent) }
    let pieces = try document(changes, linked) + document(step)
    try store.folder.checkRoomForUndo(pieces.reduce(0) { $0 + $1.count })
  }

  private func keepsOldFile(_ table: TableUndo) -> Bool {
    store.options.checkpoints != .manual && table.removedBytes > Self.mostCopiedBytes
  }

  /// Removes the files of a step that has no commit.
  func remove(_ token: CommitToken) {
    guard let folder = try? store.folder, let names = try? folder.undoFiles()[token] else { return }
    folder.removeUndoFiles(names)
  }

  private func keepFile(
    of table: TableKey, for transaction: TransactionState, _ number: Int
  ) throws -> FormerFile {
    let log = try store.fileLog
    guard let base = transaction.touched[table]?.table.own.base, let file = log.wholeFile(of: table),
      file.number == base, file.content.version != .absent
    else { throw FileIsBehind() }
    let name = try store.folder.keepForUndo(file.path, of: transaction.token, number: number)
    return FormerFile(name: name, version: file.content.version)
  }

  /// Leaves out the oldest steps of the history, so that there is space for another one. The newest large step stays. It
  /// is used only before a new write: undoing and redoing must not lose steps.
  /// - Returns: the steps that would take too much space, the newest first.
  func makeRoom(for step: UndoStep, in history: inout UndoHistory) throws(StoreError) -> [CommitToken] {
    let folder = try store.folder
    let files = try folder.undoFiles()
    let peak = history.peak.next(bytes: try folder.sizeOfTables())
    var room = max(Self.smallestSize, 2 * peak.bytes)
    var hasLarge = step.removedBytes > Self.smallestSize
    var (kept, tooLarge) = ([CommitToken](), [CommitToken]())
    for token in history.undo.reversed() {
      let size = try folder.size(ofUndoFiles: files[token] ?? [])
      if !hasLarge, size > Self.smallestSize {
        hasLarge = true
        kept.append(token)
        continue
      }
      room -= size
      if room < 0 { tooLarge.append(token) } else if kept.count < Self.limit - 1 { kept.append(token) }
    }
    history = UndoHistory(undo: kept.reversed(), peak: peak)
    return tooLarge
  }
}

extension UndoStep {
  fileprivate var removedBytes: Int { tables.values.reduce(0) { $0 + $1.removedBytes } }
}

private enum Key {
  static let name = "name"
  static let date = "date"
  static let tables = "tables"
  static let undo = "undo"
  static let redo = "redo"
  static let peak = "peak"
  static let peakDate = "peakDate"
}

extension KeptStep {
  fileprivate var plist: PlistDictionary {
    [
      Key.name: .string(name), Key.date: .date(date), Key.tables: .array(tableNames.map { .string($0) }),
      Key.undo: .string(history.undo.map(\.text).joined(separator: " ")),
      Key.redo: .string(history.redo.map(\.text).joined(separator: " ")),
      Key.peak: .integer(Int64(history.peak.bytes)), Key.peakDate: .date(history.peak.date),
    ]
  }

  /// - Returns: `nil` if this is not a step.
  fileprivate init?(_ plist: PlistDictionary) {
    guard let name = plist[Key.name]?.string, case .date(let date)? = plist[Key.date],
      case .array(let tables)? = plist[Key.tables], let history = UndoHistory(plist)
    else { return nil }
    self.init(name: name, date: date, tableNames: tables.compactMap(\.string), history: history)
  }
}

extension UndoHistory {
  /// - Returns: `nil` if this is not a step.
  fileprivate init?(_ plist: PlistDictionary) {
    func tokens(_ key: String) -> [CommitToken]? {
      guard let words = plist[key]?.string?.split(separator: " ") else { return nil }
      let tokens = words.compactMap { CommitToken(text: $0) }
      return tokens.count == words.count ? tokens : nil
    }
    guard let undo = tokens(Key.undo), let redo = tokens(Key.redo) else { return nil }
    self.init(undo: undo, redo: redo)
    if let bytes = plist[Key.peak]?.integer.flatMap(Int.init(exactly:)), bytes >= 0,
      case .date(let date)? = plist[Key.peakDate]
    {
      peak = TablesPeak(bytes: bytes, date: date)
    }
  }
}
