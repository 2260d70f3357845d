import FileDB
import FileDBEssentials
import FileDBStorage

/// What a folder knows about the shared log that it follows, besides its commits. It is in small files.
package struct ReplicaNotes: Sendable {
  let folder: StoreFolder

  private var startFile: String { folder.own(.start) }
  private var sentFile: String { folder.own(.sent) }

  /// When the folder last started over.
  func start() throws(StoreError) -> StartOver? {
    let words = try words(of: startFile)
    guard words.count == 3, let seconds = TimeInterval(words[0]), let from = UInt64(words[1]),
      let to = UInt64(words[2])
    else { return nil }
    return StartOver(date: Date(timeIntervalSince1970: seconds), lastCommitBefore: from, commitAfter: to)
  }

  func writeStart(from: UInt64, to: UInt64) throws(StoreError) {
    let seconds = Int(Date().timeIntervalSince1970)
    try replace(startFile, with: "\(seconds) \(from) \(to)\n")
  }

  /// The commit that was sent last, unless it is known what became of it.
  func sentCommit() throws(StoreError) -> SentCommit? { SentCommit(try words(of: sentFile)) }

  /// This needs no sync: before a computer is up again after a power cut, what it had sent has arrived, or never will.
  func write(_ sent: SentCommit) throws(StoreError) {
    try removeSentCommit()
    try folder.disk.createUnsynced(sentFile, [Array(sent.text.utf8)])
    try folder.disk.setMode(sentFile, 0o600)
  }

  func removeSentCommit() throws(StoreError) { try folder.disk.remove(sentFile) }

  /// Runs without the folder's lock. So another process that has the lock must not take the draft for one that a crash
  /// left.
  private func replace(_ file: String, with text: String) throws(StoreError) {
    try folder.disk.replace(file, with: Array(text.utf8), as: .unlocked)
  }

  /// Whoever has no lock may see that another process removes the file. Then it is as if it had never been there.
  private func words(of file: String) throws(StoreError) -> [Substring] {
    let bytes: [UInt8]
    do throws(StoreError) { bytes = try folder.disk.read(file).bytes } catch {
      guard error.code == .fileNotFound else { throw error }
      return []
    }
    return String(decoding: bytes, as: UTF8.self).split { " \n".contains($0) }
  }
}
