import FileDBEssentials

/// What a path leads to that is not a regular file: a pipe, a device, or a file that this process has open already, such
/// as `/dev/stdout`. It is written to. Replacing it would take only a name away from the reader, or destroy the file
/// that a shell has opened for a program's output.
extension SystemDisk {
  /// Whether `path` leads to such a thing.
  package static func isStream(_ path: String) -> Bool {
    if descriptor(at: path) != nil { return true }
    return (try? SystemDisk().status(path))??.kind == .other
  }

  package func openStream(_ path: String) throws(DiskError) -> (any WritableFile)? {
    if let number = Self.descriptor(at: path) { return try SystemFile(duplicating: number, path) }
    return Self.isStream(path) ? try SystemFile(path, O_WRONLY | O_NOCTTY) : nil
  }

  /// The descriptor of this process that a path means; `nil` for any other path.
  private static func descriptor(at path: String) -> CInt? {
    var path = path
    for _ in 0..<40 {  // Linux follows as many links.
      guard let folder = realPath(parentFolder(of: path)) else { return nil }
      let name = fileName(of: path)
      if isFolderOfDescriptors(folder), let number = CInt(name) { return number }
      guard let target = target(ofLink: "\(folder)/\(name)") else { return nil }
      path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
    }
    return nil
  }

  /// On Linux, `/dev/fd` is a link to such a folder.
  private static func isFolderOfDescriptors(_ folder: String) -> Bool {
    folder == "/dev/fd" || (folder.hasPrefix("/proc/\(getpid())/") && folder.hasSuffix("/fd"))
  }
}
