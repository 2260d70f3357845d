import ArgumentParser
import FileDBEssentials
import Synchronization

/// Standard output and error, and what they are connected to.
enum Terminal {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let inputIsTerminal = isatty(STDIN_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// See https://no-color.org. A dumb terminal shows the codes for colours as text.
  static let usesStyle =
    outputIsTerminal && !isDumb && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  private static let isDumb = ProcessInfo.processInfo.environment["TERM"] == "dumb"

  /// The width of the terminal if standard output is one; otherwise `nil`.
  static let width: Int? = {
    guard outputIsTerminal else { return nil }
    if let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init), columns > 0 {
      return columns
    }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }()

  static func bold(_ text: String) -> String { styled(text, code: 1) }

  /// The colours of a diff in git.
  enum Color: Int {
    case removed = 31
    case added = 32
    case changed = 33
  }

  static func colored(_ text: String, _ color: Color) -> String {
    text.isEmpty ? text : styled(text, code: color.rawValue)
  }

  /// The same colour, but so that the text stands out from others in this colour.
  static func marked(_ text: String, _ color: Color) -> String {
    usesStyle && !text.isEmpty ? "\u{1B}[\(color.rawValue);7m\(text)\u{1B}[0m" : text
  }

  /// A value in the colour of its type.
  static func styled(_ text: String, _ kind: ValueKind?) -> String {
    guard let kind, !text.isEmpty else { return text }
    switch kind {
    case .number: return styled(text, code: 36)
    case .bool: return styled(text, code: 33)
    case .date: return styled(text, code: 35)
    case .data: return styled(text, code: 2)
    case .collection: return styled(text, code: 34)
    }
  }

  private static func styled(_ text: String, code: Int) -> String {
    usesStyle ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// Collects the output and the messages, if it is set.
  @TaskLocal static var buffer: Buffer?

  /// Prints data. On a terminal, control characters in it are shown instead of obeyed.
  static func print(_ text: String, terminator: String = "\n") {
    let shown = outputIsTerminal ? TerminalText.defused(text, keeping: ["\n", "\t"]) : text
    write(shown + terminator)
  }

  /// Prints data that may not be UTF-8.
  static func print(bytes: [UInt8]) {
    guard outputIsTerminal || buffer != nil else { return StandardOutput.write(bytes) }
    if let text = String(validating: bytes, as: UTF8.self) {
      print(text, terminator: "")
    } else {
      StandardOutput.write(bytes)
    }
  }

  /// Prints lines that already have a layout and colours.
  static func printStyled(_ text: String) { write(text + "\n") }

  /// Writes what has been printed so far.
  static func flush() { if buffer == nil { StandardOutput.flush() } }

  private static func write(_ text: String) {
    if let buffer { buffer.append(text) } else { StandardOutput.write(text) }
  }

  /// Output and messages that are written later.
  final class Buffer: Sendable {
    private struct Texts {
      var output: [String] = []
      var messages: [String] = []
    }
    private let texts = Mutex(Texts())

    func append(_ text: String) { texts.withLock { $0.output.append(text) } }

    fileprivate func append(message: String) { texts.withLock { $0.messages.append(message) } }

    /// Forgets everything.
    func clear() { texts.withLock { $0 = Texts() } }

    /// Writes the messages.
    func flushMessages() {
      for message in texts.withLock({ $0.messages }) { Terminal.writeError(message) }
    }

    /// Writes the messages, and then the output.
    func flush() {
      flushMessages()
      StandardOutput.write(texts.withLock { $0.output.joined() })
    }
  }

  /// Whether messages are left out.
  @TaskLocal static var isQuiet = false

  /// Prints a message to standard error, unless none is wanted.
  static func note(_ message: String) { if !isQuiet { report(message) } }

  /// Prints an error to standard error.
  static func report(_ message: String) {
    let line = TerminalText.defused(message, keeping: ["\n"]) + "\n"
    if let buffer { buffer.append(message: line) } else { writeError(line) }
  }

  static func complain(_ message: String) { report("filedb: \(message)") }

  /// Replaces the last line of standard error. Only on a terminal.
  static func showProgress(_ message: String) {
    if errorIsTerminal, !isDumb { writeError("\r\u{1B}[K" + message) }
  }

  /// Whether a person can answer. A script is not asked.
  static var isAnswering: Bool { inputIsTerminal && errorIsTerminal && buffer == nil }

  /// Asks for confirmation.
  static func confirm(_ question: String) -> Bool {
    writeError(question + " [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }

  private static func writeError(_ text: String) { try? StandardStream.error.write(Array(text.utf8)) }
}

/// Shows on a terminal how far a long operation has come, once a second.
struct Progress {
  private let start = ContinuousClock.now
  private var shown = 0

  /// - Parameter message: what has been done so far.
  mutating func report(_ message: @autoclosure () -> String) {
    let seconds = Int((ContinuousClock.now - start) / .seconds(1))
    guard Terminal.errorIsTerminal, seconds > shown else { return }
    shown = seconds
    Terminal.showProgress(message())
  }

  func finish() { if shown > 0 { Terminal.showProgress("") } }
}

/// Standard output, collected into large pieces. Unlike `print`, it notices when the other end accepts no more: an
/// incomplete export must not look complete.
enum StandardOutput {
  private static let pending = Mutex<[UInt8]>([])
  /// Whether the command has changed the store. The change stays even if the output is lost.
  static let hasChangedStore = Atomic<Bool>(false)

  private static let hasWritten = Atomic<Bool>(false)

  /// Whether somebody may have read a part of the output.
  static var isBegun: Bool { hasWritten.load(ordering: .relaxed) }

  static func write(_ text: String) { write(Array(text.utf8)) }

  static func write(_ more: [UInt8]) {
    let isFull = pending.withLock { bytes in
      bytes += more
      return bytes.count > 64 << 10
    }
    if isFull { flush() }
  }

  /// Writes what has been collected. Call it before the program ends.
  static func flush() {
    do { try writePending() } catch { fail(error) }
  }

  /// Writes what has been collected.
  /// - Returns: false if nobody reads it.
  static func flushIfRead() -> Bool {
    do { try writePending() } catch {
      if isUnread(within: 0) { return false }
      fail(error)
    }
    return true
  }

  private static func fail(_ error: any Error) -> Never {
    let isDone = hasChangedStore.load(ordering: .relaxed) ? "; what the command did to the store is done" : ""
    Terminal.complain("standard output: \(error.systemReason)\(isDone)")
    FileDBTool.exit(withError: ExitCode(74))
  }

  /// Waits until the other end is closed. If that is impossible, it waits for ever.
  static func waitUntilUnread() { while !isUnread(within: -1) {} }

  /// - Parameter milliseconds: how long to wait for it; -1 for ever.
  private static func isUnread(within milliseconds: CInt) -> Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    return poll(&output, 1, milliseconds) > 0
  }

  private static func writePending() throws {
    let bytes = pending.withLock { bytes in
      defer { bytes = [] }
      return bytes
    }
    if !bytes.isEmpty { hasWritten.store(true, ordering: .relaxed) }
    try StandardStream.output.write(bytes)
  }
}
