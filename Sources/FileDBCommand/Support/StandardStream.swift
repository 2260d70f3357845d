import FileDBEssentials

/// A stream that the program writes to.
enum StandardStream: CInt {
  case output = 1
  case error = 2

  /// - Throws: ``SystemFailure``.
  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Self.write(rawValue, $0) }
      if count < 0, errno != EINTR { throw SystemFailure(number: errno) }
      rest = rest.dropFirst(max(count, 0))
    }
  }

  private static func write(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    FileDBEssentials.write(descriptor, bytes.baseAddress, bytes.count)
  }
}

/// The system's error for a call that failed.
struct SystemFailure: Error {
  let number: CInt
}

extension Error {
  /// Why the system refused something, in the system's words.
  var systemReason: String {
    switch self {
    case let failure as SystemFailure: String(cString: strerror(failure.number))
    case let failure as CocoaError:
      (failure.userInfo["NSUnderlyingError"] as? POSIXError).map(\.reason) ?? "\(failure)"
    default: "\(self)"
    }
  }
}

extension POSIXError {
  fileprivate var reason: String { String(cString: strerror(code.rawValue)) }
}
