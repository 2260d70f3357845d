import FileDBEssentials
import FileDBTables

/// The texts that Foundation and SwiftUI show for an error.
extension StoreError: LocalizedError {
  /// The whole error, with its place.
  public var errorDescription: String? { description }

  /// What is wrong, without the place.
  public var failureReason: String? { message }

  /// The method to call next, if one helps.
  public var recoverySuggestion: String? {
    switch code {
    case .conflict: "RecordStore.repair(_:keeping:) keeps the version that you choose."
    case .damagedTable, .duplicateID: "RecordStore.repair(_:) saves what can be read."
    case .damagedJournal: "RecordStore.repairJournal() saves what can be read."
    case .undoConflict, .undoStepLost: "Leave the step out: UndoLog.skip(), or UndoStack.skipUndo()."
    case .locked: "Try again, or open the store with a longer StoreOptions.lockTimeout."
    case .unreachable: "Try again once the log can be reached. Reading goes on without it."
    case .closed: "Open the store again."
    default: nil
    }
  }
}
