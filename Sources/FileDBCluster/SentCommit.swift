import FileDB
import FileDBEssentials

/// A commit on its way to a shared log. It is written down in the folder before it is sent. So if nobody hears whether
/// the log has it, the next process can find out.
package struct SentCommit: Equatable, Sendable {
  package let token: CommitToken
  /// The folder's last commit when this one was sent. If the log has this one, it comes later.
  package let last: UInt64
  /// To the second.
  package let date: Date
  package let undo: UndoEffect

  init(_ commit: NewCommit, after last: UInt64) {
    (token, self.last, date, undo) = (commit.token, last, commit.date, commit.undo)
  }

  /// Reads `TOKEN LAST SECONDS UNDO`.
  init?(_ words: [Substring]) {
    guard words.count == 4, let token = CommitToken(text: words[0]), let last = UInt64(words[1]),
      last <= Int64.max, let seconds = Int32(words[2]), let undo = UndoEffect(rawValue: String(words[3]))
    else { return nil }
    (self.token, self.last, self.undo) = (token, last, undo)
    date = Date(timeIntervalSince1970: TimeInterval(seconds))
  }

  var text: String { "\(token.text) \(last) \(Int(date.timeIntervalSince1970)) \(undo.rawValue)\n" }
}

/// A commit whose write ended without knowing whether the log has it, and what was found out later.
package struct SettledCommit: Sendable {
  package let commit: SentCommit
  /// ``CommitOutcome/unknown`` if the log has forgotten the commits of that time. Then nobody can know.
  package let outcome: CommitOutcome
}
