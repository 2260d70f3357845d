/// Where programs keep what belongs to this user on this machine.
package enum UserState {
  /// FileDB's folder there, as the XDG Base Directory Specification has it, and on Apple platforms where programs keep
  /// such data. It need not exist.
  package static var folder: URL {
    #if canImport(Darwin)
      let usual = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        .appendingPathComponent("Library/Application Support", isDirectory: true)
    #else
      let usual = FileManager.default.homeDirectoryForCurrentUser
        .appendingPathComponent(".local/state", isDirectory: true)
    #endif
    let given = ProcessInfo.processInfo.environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (given.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? usual)
      .appendingPathComponent("filedb", isDirectory: true)
  }
}
