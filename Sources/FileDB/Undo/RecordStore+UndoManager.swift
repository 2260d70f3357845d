#if canImport(Darwin)
  import Foundation

  extension RecordStore {
    /// Registers a step with an app's `UndoManager`: Undo reverses the write, Redo repeats it, and so on.
    ///
    ///     let write = try store.undoableWrite { tx in try tx[.notes].delete(milk) }
    ///     store.registerUndo(write.step, with: undoManager) { error in show(error) }
    ///
    /// - Parameter onError: called with the errors of ``undo(_:)``.
    @MainActor
    public func registerUndo(
      _ step: UndoStep, with manager: UndoManager, onError: @escaping @MainActor (any Error) -> Void
    ) {
      manager.registerUndo(withTarget: self) { store in
        MainActor.assumeIsolated {
          do { store.registerUndo(try store.undo(step), with: manager, onError: onError) } catch {
            onError(error)
          }
        }
      }
    }
  }
#endif
