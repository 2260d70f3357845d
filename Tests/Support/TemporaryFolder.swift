import Foundation

/// Runs `body` in a new folder, which is gone afterwards.
package func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let folder = try makeTemporaryFolder()
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

/// A new folder, for the caller to remove.
package func makeTemporaryFolder() throws -> URL {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}

/// The root of the package.
package let packageRoot = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// Data and property lists of others, beside a developer's checkout but not in the repository.
package let sharedFolder = packageRoot.deletingLastPathComponent().appendingPathComponent("shared")

package func sharedFolderHas(_ path: String) -> Bool {
  FileManager.default.fileExists(atPath: sharedFolder.appendingPathComponent(path).path)
}
