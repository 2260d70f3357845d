import FileDBStorage
import Synchronization

/// Distinguishes one content of a table's file from another.
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

/// The content of a table's file when it was read or written. The checksum is calculated when it is first needed. A
/// program that only reads hardly ever needs it.
final class FileContent: Sendable {
  private enum State {
    case bytes([UInt8])
    case unread(UnreadTable)
    case version(FileVersion)
  }

  /// In bytes.
  let size: Int
  private let state: Mutex<State>

  init(_ bytes: [UInt8]) {
    size = bytes.count
    state = Mutex(.bytes(bytes))
  }

  init(_ table: UnreadTable) {
    size = table.known.stamp.size
    state = Mutex(.unread(table))
  }

  init(_ version: FileVersion) {
    size = version.size
    state = Mutex(.version(version))
  }

  var version: FileVersion {
    state.withLock { state in
      let version =
        switch state {
        case .version(let version): version
        case .bytes(let bytes): FileVersion(bytes)
        case .unread(let table): table.readVersion()
        }
      state = .version(version)
      return version
    }
  }
}
