import FileDB
import FileDBStorage
import Foundation

/// What a program does with a store before the power is cut.
package struct CrashWorkload: Sendable {
  package enum Step: Sendable {
    /// A transaction that changes something, so that each commit can be told from the one before.
    case commit(@Sendable (inout StoreTransaction) throws -> Void)
    /// A transaction that goes through the undo log, and taking back or doing again what went through it.
    case undoable(@Sendable (inout StoreTransaction) throws -> Void)
    case undo
    case redo
    case repair(String)
    /// Brings what lies in another folder at home into the store.
    case install(String, ShippedVersion, InstallPolicy)
    case checkpoint
    /// The checkpoint that a store makes by itself.
    case checkpointWhenDue
    case close
    /// Another process takes the store over.
    case reopen
    /// Another program saves a table's file, with one more record in it.
    case edit(String, Editor.Care = .syncsFile)
    /// Another program saves a table's file, with other fields in its first record, and syncs it: a commit that changed
    /// that record does not fit.
    case clash(String)
    /// A checkpoint that ends with a conflict.
    case checkpointInConflict

    /// Whether the step changes what is in the store.
    var isCommit: Bool {
      switch self {
      case .commit, .undoable, .undo, .redo, .repair, .install, .edit, .clash: true
      case .checkpoint, .checkpointWhenDue, .checkpointInConflict, .close, .reopen: false
      }
    }

    /// Whether what the step did must be there after a power cut.
    var isDurable: Bool { if case .edit = self { false } else { true } }

    /// - Returns: the store that is open afterwards.
    func run(in store: RecordStore, reopening open: () throws -> RecordStore) throws -> RecordStore {
      switch self {
      case .commit(let body): try store.write(body)
      case .undoable(let body): try store.undoLog.write(body)
      case .undo: try Self.require(store.undoLog.undo())
      case .redo: try Self.require(store.undoLog.redo())
      case .repair(let table): try store.repair(table)
      case .install(let name, let version, let policy):
        try Self.install(name, version, policy, in: store)
      case .checkpoint: try store.checkpoint()
      case .checkpointWhenDue: try store.checkpointTablesThatAreDue()
      case .close:
        try store.close()
        return try open()
      case .reopen: return try open()
      case .edit(let table, let care): try Editor(store: store, care: care).addRecord(to: table)
      case .clash(let table): try Editor(store: store, care: .syncsAll).changeFirstRecord(of: table)
      case .checkpointInConflict:
        do {
          try store.checkpoint()
          throw BrokenInvariant(description: "a checkpoint met no conflict")
        } catch StoreError.Code.conflict {}
      }
      return store
    }

    private static func require(_ entry: UndoLog.Entry?) throws {
      if entry == nil { throw BrokenInvariant(description: "there is nothing in the undo log") }
    }

    @discardableResult
    static func install(
      _ name: String, _ version: ShippedVersion, _ policy: InstallPolicy, in store: RecordStore
    ) throws -> InstallReport {
      let url = URL(fileURLWithPath: "\(CrashWorkload.home)/\(name)")
      let shipped = try RecordStore(at: url, disk: store.disk, options: store.options)
      return try ShippedInstall(from: shipped, to: store, version: version, policy: policy).run()
    }
  }

  package static let home = "/home"
  package static let storeFolder = "/home/store"

  package let name: String
  package let before: DiskImage
  package let steps: [Step]
  package let options: StoreOptions
  /// What some file must hold at every moment, under whatever name: the original of a table that is repaired.
  package let keptBytes: [UInt8]?
  /// The numbers of the saves of another program that may meet commits of the same table in the journal: a conflict.
  package let conflicts: ClosedRange<Int>?

  package init(
    _ name: String, before: DiskImage = .emptyHome, checkpoints: CheckpointPolicy = .manual,
    longestFrame: Int? = nil, largeFile: Int? = nil, shortJournal: Int? = nil, keptJournal: Int? = nil,
    keptText: String? = nil, conflicts: ClosedRange<Int>? = nil,
    steps: [Step]
  ) {
    var options = StoreOptions(checkpoints: checkpoints)
    if let longestFrame { options.longestFrame = longestFrame }
    if let largeFile { options.largeFile = largeFile }
    if let shortJournal { options.shortJournal = shortJournal }
    if let keptJournal { options.keptJournal = keptJournal }
    self.options = options
    self.name = name
    self.before = before
    self.keptBytes = keptText.map { Array($0.utf8) }
    self.conflicts = conflicts
    self.steps = steps
  }

  /// Whether another program saves a file while commits may be waiting in the journal.
  package var savesAmongCommits: Bool {
    var isWaiting = false
    for step in steps {
      switch step {
      case .commit, .undoable, .undo, .redo, .repair, .install: isWaiting = true
      case .checkpoint, .close: isWaiting = false
      case .edit, .clash: if isWaiting { return true }
      case .checkpointWhenDue, .checkpointInConflict, .reopen: break
      }
    }
    return false
  }

  /// What the store held before the first commit and after each.
  package typealias History = [StoreContents]

  /// Runs all steps on a disk, and marks in its log when each commit is issued and when it is acknowledged.
  ///
  /// Where the disk fails a sync or the process dies, the store is opened anew, as ``StoreError/Code/outcomeUnknown``
  /// says, and a commit that is not there then is tried again.
  package func run(on disk: RecordingDisk, at folder: String = Self.storeFolder) throws -> History {
    let url = URL(fileURLWithPath: folder)
    func open() throws -> RecordStore { try RecordStore(at: url, disk: disk, options: options) }
    func contents() throws -> StoreContents {
      try StoreContents(of: RecordStore(at: url, disk: disk.base, options: options))
    }
    var history = [try contents()]
    var store: RecordStore?
    for step in steps {
      if step.isCommit { disk.note(.issued(history.count)) }
      do {
        store = try step.run(in: store ?? open(), reopening: open)
        if step.isCommit, step.isDurable { disk.note(.acknowledged(history.count)) }
      } catch  where disk.failure != nil {
        store = nil  // Before the disk works again: a process that died does nothing at its end.
        disk.restart()
        // An editor waits for a checkpoint.
        if try step.isCommit ? contents() == history.last : hasEdits {
          store = try step.run(in: open(), reopening: open)
          if step.isCommit, step.isDurable { disk.note(.acknowledged(history.count)) }
        }
      }
      if step.isCommit { history.append(try contents()) }
    }
    return history
  }

  private var hasEdits: Bool {
    steps.contains {
      switch $0 {
      case .edit, .clash: true
      default: false
      }
    }
  }

  package var usesUndoLog: Bool { undoTargets(after: steps.count) != nil }

  /// The commits to whose contents the undo log leads, one after another, if this many commits are there; `nil` if
  /// nothing goes through it.
  func undoTargets(after count: Int) -> [Int]? {
    var (undo, redo, isUsed) = ([Int](), [Int](), false)
    for (number, step) in steps.filter(\.isCommit).prefix(count).enumerated() {
      switch step {
      case .undoable: (undo, redo, isUsed) = (undo + [number], [], true)
      case .undo:
        undo.removeLast()
        redo.append(number)
      case .redo:
        redo.removeLast()
        undo.append(number)
      default: break
      }
    }
    return isUsed ? undo.reversed() : nil
  }

  /// The numbers of the saves of another program that synced nothing. Until a commit builds on it, a power cut may
  /// leave anything of such a file.
  var unsyncedEdits: Set<Int> {
    let numbered = steps.filter(\.isCommit).enumerated()
    return Set(
      numbered.compactMap { number, step in
        if case .edit(_, .syncsNothing) = step { number + 1 } else { nil }
      })
  }

  /// Whether a program that is started anew can do the rest of the steps: those that install find out by themselves
  /// what is still to do.
  var isResumable: Bool {
    steps.contains { if case .install = $0 { true } else { false } }
  }

  /// Goes on after a power cut.
  /// - Parameter count: how many commits are there. Where the last one is an installation, it is done again, as at
  ///   every start.
  /// - Returns: what the store holds in the end.
  func resume(after count: Int, on disk: any Disk) throws -> StoreContents {
    let url = URL(fileURLWithPath: Self.storeFolder)
    func open() throws -> RecordStore { try RecordStore(at: url, disk: disk, options: options) }
    var store = try open()
    var number = 0
    for step in steps {
      if step.isCommit { number += 1 }
      if number < count { continue }
      if number == count, step.isCommit {
        guard case .install(let name, let version, let policy) = step else { continue }
        let former = try Step.install(name, version, policy, in: store).formerVersion
        guard former == version else {
          throw BrokenInvariant(description: "version \(version) is there, and not known to be installed")
        }
      } else {
        store = try step.run(in: store, reopening: open)
      }
    }
    return try StoreContents(of: open())
  }
}

extension DiskImage {
  /// A disk on which a store can be made.
  package static var emptyHome: DiskImage {
    var image = DiskImage()
    image.folders.insert(CrashWorkload.home)
    return image
  }

  /// A disk with a store's folder and these files in it, written by somebody else.
  package static func store(_ files: [String: String]) -> DiskImage {
    var image = emptyHome
    image.folders.insert(CrashWorkload.storeFolder)
    for (name, text) in files { image.files["\(CrashWorkload.storeFolder)/\(name)"] = Array(text.utf8) }
    return image
  }
}

extension CrashWorkload: CustomStringConvertible {
  package var description: String { name }
}
