import Dispatch
import FileDBEssentials

/// The signals that end a program that keeps running: ^C, the system's request to terminate, and the end of the
/// terminal.
enum EndSignals {
  /// Calls `end` when one arrives, as long as the result is kept.
  static func call(_ end: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    numbers.map { number in
      let (source, isReady) = (DispatchSource.makeSignalSource(signal: number), DispatchSemaphore(value: 0))
      source.setRegistrationHandler { isReady.signal() }
      source.setEventHandler(handler: end)
      source.resume()
      // A signal that arrives before the source exists has its usual effect, and is not lost.
      isReady.wait()
      #if canImport(Darwin)
        signal(number, SIG_IGN)  // On other systems, the source catches the signal.
      #endif
      return source
    }
  }

  private static var numbers: [CInt] {
    let usual = signal(SIGHUP, SIG_IGN)
    signal(SIGHUP, usual)
    // Then `nohup` has started this program, so that it survives its terminal.
    let isIgnored = unsafeBitCast(usual, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    return [SIGINT, SIGTERM] + (isIgnored ? [] : [SIGHUP])
  }
}
