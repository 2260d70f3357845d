import FileDBEssentials
import FileDBStorage
import FileDBTables

extension FileLog {
  /// Keeps a journal that lost its name while commits in it waited for their sync, unless the present journal has them.
  /// A sync service has then put another machine's journal in its place. The service may not have seen these commits,
  /// and so have kept no copy of them.
  func keepIfReplaced(_ file: any OpenFile) throws(DiskError) {
    if !isNamed(folder.journalFile, file) { try keepIfLost(file) }
  }

  /// Keeps a journal as a copy that can be merged, unless the present journal has its last commit. Durable when this
  /// returns.
  func keepIfLost(_ file: any OpenFile) throws(DiskError) {
    let bytes = try file.read(at: 0, count: file.extent().size)
    let commits = JournalScan(bytes, at: 0, after: nil).frames.map(\.frame).filter { $0.kind == .commit }
    guard let last = commits.last, try isLost(last) else { return }
    let copies = (try? folder.journalCopies()) ?? []
    // The service may have kept the file itself.
    if copies.contains(where: { isNamed("\(folder.ownFolder)/\($0)", file) }) { return }
    for commit in commits {
      if let records = try? JournalCommit.recordsFile(of: commit.payload) {
        try folder.keepRecords(records.name)
      }
    }
    let machine = disk.disk.machine ?? "this machine"
    let number = String(hexadecimal: UInt32.random(in: 1 ... .max), width: 8)
    // This thread may not have the store's lock, so nobody may sweep the draft.
    _ = try disk.disk.replace(
      "\(folder.journalFile) (\(machine)'s conflicted copy \(number))", with: bytes, as: .unlocked)
  }

  private func isLost(_ commit: JournalFrame) throws(DiskError) -> Bool {
    let token = JournalCommit.token(of: commit.payload)
    do throws(JournalError) {
      guard let (journal, frames) = try Journal.open(folder.journalFile, on: disk.disk) else {
        return !((try? folder.isMovedOut) ?? false)
      }
      if let token, journal.lastToken == token.text { return false }
      let isThere = frames.contains { frame in
        frame.kind == .commit && frame.sequence == commit.sequence
          && JournalCommit.token(of: frame.payload) == token
      }
      if isThere { return false }
      // If other processes of this machine have begun later journals since, the commit is in the files.
      let start = frames.first?.sequence ?? 0
      return start <= commit.sequence || journal.machine != disk.disk.machine
    } catch {
      guard case .disk(let error) = error else { return true }  // It has not arrived as a whole.
      throw error
    }
  }

  /// An error proves nothing, so it counts as no: then the commits are looked for.
  private func isNamed(_ path: String, _ file: any OpenFile) -> Bool {
    guard let present = try? disk.disk.extent(path), let extent = try? file.extent() else { return false }
    return present.isSameFile(as: extent)
  }
}
