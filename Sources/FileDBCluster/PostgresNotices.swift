import FileDB

/// What a server says beside its answers. Without a receiver, libpq would print it to standard error.
final class PostgresNotices {
  private let libpq: LibPQ
  private var warning: String?

  init(_ libpq: LibPQ) { self.libpq = libpq }

  /// Takes the notices of a connection from now on. The caller keeps this object for as long as the connection lives.
  func receive(from connection: OpaquePointer) {
    _ = libpq.setNoticeReceiver(
      connection,
      { notices, notice in
        guard let notices else { return }
        Unmanaged<PostgresNotices>.fromOpaque(notices).takeUnretainedValue().take(notice)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func take(_ notice: OpaquePointer?) {
    // It has no code of its own, and its text is in the server's language.
    guard text(notice, LibPQ.sourceFunction) == "SyncRepWaitForLSN" else { return }
    warning = text(notice, LibPQ.primaryMessage) ?? "no standby has confirmed the commit"
  }

  private func text(_ notice: OpaquePointer?, _ field: CInt) -> String? {
    libpq.errorField(notice, field).map { String(cString: $0) }
  }

  /// What the server said if it stopped waiting for the standbys, which a time limit or an administrator may have it do.
  /// It calls the commit done, and if it dies, no other server may have it.
  func takeWarning() -> String? {
    defer { warning = nil }
    return warning
  }
}
