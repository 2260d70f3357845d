import Dispatch
import FileDB
import Synchronization

/// Shows on a terminal for how long the command has been waiting, once a second.
final class Waiting: Sendable {
  private let task: String
  /// The seconds that are shown; `nil` when the command waits no longer.
  private let shown = Mutex<Int?>(0)

  /// - Parameter task: what the command waits for.
  init(_ task: String) {
    self.task = task
    if Terminal.errorIsTerminal { showNext() }
  }

  private func showNext() {
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self, showSecond() else { return }
      showNext()
    }
  }

  private func showSecond() -> Bool {
    shown.withLock { shown in
      guard let seconds = shown.map({ $0 + 1 }) else { return false }
      Terminal.showProgress("\(task), \(seconds) s")
      shown = seconds
      return true
    }
  }

  /// Removes what it has shown.
  func end() {
    shown.withLock { shown in
      if let seconds = shown, seconds > 0 { Terminal.showProgress("") }
      shown = nil
    }
  }
}

extension RecordStore {
  /// Whether several machines share the store.
  var isShared: Bool { shownFiles != nil || !url.isFileURL }
}
