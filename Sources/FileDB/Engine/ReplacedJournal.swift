import FileDBEssentials
import FileDBStorage
import FileDBTables

extension FileLog {
  /// Keeps each journal that lost its name while commits in it waited for their sync, and whose commits are in no other
  /// one. A sync service has then put another machine's journal there. It may not have seen these commits, and kept no
  /// copy.
  func keepReplacedJournals(of tickets: [FileTicket]) throws(DiskError) {
    for (index, ticket) in tickets.enumerated() {
      let isLast = index + 1 == tickets.count || tickets[index + 1].file !== ticket.file
      if isLast, try isLost(ticket) { try keepJournal(of: ticket) }
    }
  }

  private func isLost(_ ticket: FileTicket) throws(DiskError) -> Bool {
    let extent = try ticket.file.extent()
    guard extent.names == 0 else { return false }
    let (journal, frames): (Journal, [JournalFrame])
    do throws(JournalError) {
      guard let present = try Journal.open(folder.journalFile, on: disk.disk) else { return true }
      (journal, frames) = present
    } catch {
      guard case .disk(let error) = error else { return true }
      throw error
    }
    if journal.lastToken == ticket.token.text { return false }
    if frames.contains(where: { $0.sequence == ticket.sequence && token(of: $0) == ticket.token }) {
      return false
    }
    // If a later commit of this machine is in the files already, a checkpoint has left this one out.
    let start = frames.first?.sequence ?? 0
    return start <= ticket.sequence || journal.machine != disk.disk.machine
  }

  /// Keeps a journal under the name that some services give the copy of a conflict. Durable when this returns.
  private func keepJournal(of ticket: FileTicket) throws(DiskError) {
    let machine = disk.disk.machine ?? "this machine"
    let number = hexadecimal(UInt32.random(in: 1 ... .max))
    let bytes = try ticket.file.read(at: 0, count: ticket.file.extent().size)
    _ = try disk.disk.replace("\(folder.journalFile) (\(machine)'s conflicted copy \(number))", with: bytes)
  }
}
