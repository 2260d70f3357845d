import Foundation
import Synchronization

enum Key: Equatable, Sendable {
  case character(Character)
  case up, down, enter, backspace, escape
  /// The end of the input.
  case end
}

/// The terminal. It delivers each key when it is pressed.
enum TerminalScreen {
  /// The terminal's settings before `start()`.
  private static let former = Mutex<termios?>(nil)

  /// Makes the terminal deliver each key when it is pressed, even Control-C. Other input needs no change.
  static func start() {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
    former.withLock { $0 = mode }
    mode.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  static func restore() {
    guard var mode = former.withLock(\.self) else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }

  /// Calls `take` with each key, on a separate thread, because reading waits for the next key.
  static func readKeys(_ take: @escaping @Sendable (Key) -> Void) {
    Thread.detachNewThread {
      var bytes: [UInt8] = []
      while case let more = FileHandle.standardInput.availableData, !more.isEmpty {
        bytes += more
        while let key = nextKey(in: &bytes) { take(key) }
      }
      take(.end)
    }
  }

  /// Takes the first key from `bytes`; `nil` if only a part of a character has arrived.
  static func nextKey(in bytes: inout [UInt8]) -> Key? {
    guard let first = bytes.first else { return nil }
    for (sequence, key) in [([27, 91, 65], Key.up), ([27, 91, 66], .down)] as [([UInt8], Key)]
    where bytes.starts(with: sequence) {
      bytes.removeFirst(sequence.count)
      return key
    }
    let length = max(1, (~first).leadingZeroBitCount)
    guard bytes.count >= length else { return nil }
    let text = String(decoding: bytes.prefix(length), as: UTF8.self)
    bytes.removeFirst(length)
    switch first {
    case 10, 13: return .enter
    case 8, 127: return .backspace
    case 27: return .escape
    case 3, 4: return .end
    default: return text.first.map(Key.character)
    }
  }

  static func show(_ lines: [String]) {
    // Control characters in a title are text, not commands to the terminal.
    let shown = lines.map { line in
      String(line.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "?" : $0 })
    }
    let text = "\u{1B}[H\u{1B}[2J" + shown.joined(separator: "\n") + "\n"
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
