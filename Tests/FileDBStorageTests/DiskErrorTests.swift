import FileDBStorage
import Foundation
import Testing

@Suite struct DiskErrorTests {
  @Test(
    arguments: [
      (ENOENT, .notFound), (ENOTDIR, .notFound), (EEXIST, .exists), (EACCES, .permissionDenied),
      (EPERM, .permissionDenied), (EROFS, .readOnly), (ENOSPC, .full), (EDQUOT, .full), (ELOOP, .linkLoop),
      (EISDIR, .isFolder), (ETIMEDOUT, .timedOut), (EIO, .other), (EMFILE, .other),
    ] as [(CInt, DiskError.Kind)])
  func errnoDeterminesKind(errno: CInt, kind: DiskError.Kind) {
    #expect(DiskError("open", "/a", errno: errno).kind == kind)
  }

  @Test func descriptionNamesPathCallAndReason() {
    let error = DiskError("write", "/a/b", errno: ENOSPC)
    #expect(error.description == "/a/b: write: \(String(cString: strerror(ENOSPC)))")
  }
}
