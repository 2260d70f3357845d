import Dispatch
import FileDBEssentials

/// The signals that end a program which stays: ^C, and the wish of the system.
enum EndSignals {
  /// Calls `end` when one comes, for as long as the result is there.
  static func call(_ end: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM].map { number in
      let (source, isReady) = (DispatchSource.makeSignalSource(signal: number), DispatchSemaphore(value: 0))
      source.setRegistrationHandler { isReady.signal() }
      source.setEventHandler(handler: end)
      source.resume()
      // A signal that comes before the source is there has its usual effect, and is not lost.
      isReady.wait()
      #if canImport(Darwin)
        signal(number, SIG_IGN)  // Elsewhere, the source catches the signal.
      #endif
      return source
    }
  }
}
