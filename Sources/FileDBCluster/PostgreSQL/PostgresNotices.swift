import FileDB

/// The notices and warnings that a server sends beside its answers. Without a receiver, libpq would print them to
/// standard error.
final class PostgresNotices {
  private let libpq: LibPQ
  private var warning: String?

  init(_ libpq: LibPQ) { self.libpq = libpq }

  /// Receives the notices of a connection from now on. The caller must keep this object as long as the connection is
  /// open.
  func receive(from connection: OpaquePointer) {
    _ = libpq.setNoticeReceiver(
      connection,
      { notices, notice in
        guard let notices else { return }
        Unmanaged<PostgresNotices>.fromOpaque(notices).takeUnretainedValue().take(notice)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func take(_ notice: OpaquePointer?) {
    // The warning has no code of its own, and its text is in the server's language. So look for the function's name.
    guard text(notice, LibPQ.sourceFunction) == "SyncRepWaitForLSN" else { return }
    warning = text(notice, LibPQ.primaryMessage) ?? "no standby has confirmed the commit"
  }

  private func text(_ notice: OpaquePointer?, _ field: CInt) -> String? {
    libpq.errorField(notice, field).map { String(cString: $0) }
  }

  /// The warning of a server that stopped waiting for its standbys, because of a time limit or an administrator. The
  /// server reports success then, but if it crashes, the commit may be lost.
  func takeWarning() -> String? {
    defer { warning = nil }
    return warning
  }
}
