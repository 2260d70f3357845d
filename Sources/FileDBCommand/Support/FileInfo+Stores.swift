import FileDB
import FileDBEssentials
import FileDBExchange

extension FileInfo {
  /// Whether a folder is a store that has been written to.
  static func isStore(_ folder: URL) -> Bool {
    access(folder.appendingPathComponent(".filedb").path, F_OK) == 0
  }

  /// Whether two paths lead to the same folder, whatever links, mounts and letter cases they contain.
  static func isSame(_ folder: URL, _ other: URL) -> Bool {
    guard let identity = identity(of: folder) else { return false }
    return identity == self.identity(of: other)
  }

  /// Where a path leads. It follows links, even to something that does not exist yet.
  static func target(of url: URL) -> URL {
    var target = url
    for _ in 0..<40 {  // Linux follows as many.
      guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else { break }
      target = URL(fileURLWithPath: path, relativeTo: target.deletingLastPathComponent())
    }
    return target.resolvingSymlinksInPath()
  }

  private static func identity(of folder: URL) -> [Int]? {
    let path = folder.resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let device = attributes[.systemNumber] as? Int, let inode = attributes[.systemFileNumber] as? Int
    else { return nil }
    return [device, inode]
  }
}
