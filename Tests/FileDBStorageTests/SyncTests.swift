import FileDBStorage
import Foundation
import Testing

/// The sync of Apple's platforms, where a file system may lack the call that goes through the drive's cache.
@Suite struct SyncTests {
  /// Calls that fail with `error`, or succeed with 0.
  private func result(of error: CInt, otherwise other: CInt = 0) -> (
    result: CInt, errno: CInt, isOtherCalled: Bool
  ) {
    var isOtherCalled = false
    func call(_ error: CInt) -> CInt {
      errno = error
      return error == 0 ? 0 : -1
    }
    let result = sync(by: { call(error) }) {
      isOtherCalled = true
      return call(other)
    }
    return (result, errno, isOtherCalled)
  }

  @Test func successfulSyncNeedsNoOther() { #expect(result(of: 0) == (0, 0, false)) }

  @Test(arguments: [ENOTSUP, EINVAL, ENOTTY])
  func otherCallReplacesOneThatTheFileSystemLacks(_ error: CInt) {
    #expect(result(of: error) == (0, 0, true))
    #expect(result(of: error, otherwise: EIO) == (-1, EIO, true))
  }

  @Test(arguments: [EIO, ENOSPC, EDQUOT, EINTR, EBADF, EROFS])
  func errorIsNotHiddenByAnotherSync(_ error: CInt) {
    #expect(result(of: error) == (-1, error, false))
  }
}
