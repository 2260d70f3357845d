import FileDBStorage
import Synchronization

/// Tells one content of a table's file from another.
enum FileVersion: Equatable, Sendable {
  /// There is no file.
  case absent
  case file(size: Int, checksum: UInt32)

  init(_ bytes: [UInt8]?) {
    self = bytes.map { .file(size: $0.count, checksum: Checksum.of($0)) } ?? .absent
  }

  /// In bytes.
  var size: Int {
    switch self {
    case .absent: 0
    case .file(let size, _): size
    }
  }
}

/// What a table's file was when it was read, or written. Its checksum is taken when somebody first needs it: who only
/// reads never does.
final class FileContent: Sendable {
  private enum State {
    case bytes([UInt8])
    case version(FileVersion)
  }

  /// In bytes.
  let size: Int
  private let state: Mutex<State>

  init(_ bytes: [UInt8]) {
    size = bytes.count
    state = Mutex(.bytes(bytes))
  }

  init(_ version: FileVersion) {
    size = version.size
    state = Mutex(.version(version))
  }

  var version: FileVersion {
    state.withLock { state in
      switch state {
      case .version(let version): return version
      case .bytes(let bytes):
        let version = FileVersion(bytes)
        state = .version(version)
        return version
      }
    }
  }
}
