import FileDBEssentials

/// An open file. It is closed with its last reference.
final class OpenFile {
  /// An error of the system's.
  struct Failure: Error, CustomStringConvertible {
    let number: CInt

    init() { number = errno }

    var description: String { String(cString: strerror(number)) }
  }

  private let descriptor: CInt

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  init(reading path: String) throws(Failure) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure() }
  }

  static let standardInput = STDIN_FILENO

  deinit { if descriptor != Self.standardInput { close(descriptor) } }

  /// The next bytes, at most 256 KiB; none at the end.
  func nextPiece() throws(Failure) -> [UInt8] {
    try bytes { read(descriptor, $0.baseAddress, $0.count) }
  }

  /// The bytes from `offset` on, at most 256 KiB; none at the end.
  func piece(at offset: Int) throws(Failure) -> [UInt8] {
    try bytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
  }

  private func bytes(_ read: (UnsafeMutableBufferPointer<UInt8>) -> Int) throws(Failure) -> [UInt8] {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, initialized in
      repeat { count = read(buffer) } while count < 0 && errno == EINTR
      initialized = max(count, 0)
    }
    guard count >= 0 else { throw Failure() }
    return bytes
  }

  func append(_ bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { throw Failure() }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
