import FileDBStorage
import Foundation
import Testing

/// The sync of Apple's platforms, where a file system may lack the call that goes through the drive's cache.
@Suite struct SyncTests {
  /// Calls that fail with an error, or succeed if it is 0.
  private func result(of error: CInt, otherwise other: CInt = 0) -> (
    result: CInt, errno: CInt, isOtherCalled: Bool
  ) {
    var isOtherCalled = false
    func call(_ error: CInt) -> CInt {
      if error == 0 { return 0 }
      errno = error
      return -1
    }
    func callOther() -> CInt {
      isOtherCalled = true
      return call(other)
    }
    errno = ENOTSUP  // An earlier call left it.
    return (sync(by: { call(error) }, orIfUnsupported: callOther), errno, isOtherCalled)
  }

  @Test func successfulSyncNeedsNoOther() { #expect(result(of: 0) == (0, ENOTSUP, false)) }

  @Test(arguments: [ENOTSUP, EINVAL, ENOTTY])
  func otherCallReplacesOneThatTheFileSystemLacks(_ error: CInt) {
    #expect(result(of: error) == (0, error, true))
    #expect(result(of: error, otherwise: EIO) == (-1, EIO, true))
  }

  @Test(arguments: [EIO, ENOSPC, EDQUOT, EINTR, EBADF, EROFS])
  func errorIsNotHiddenByAnotherSync(_ error: CInt) {
    #expect(result(of: error) == (-1, error, false))
  }
}
