import FileDB
import FileDBEssentials

/// The number and token of a commit, such as `17 0f…`; `0 -` before the first commit.
struct EtcdCommitReference: Equatable, Sendable {
  let sequence: UInt64
  let token: CommitToken?
  /// The key's value. Another client may write the same reference in another way.
  let value: String
  /// The revision at which the key was last written.
  var revision: Int64 = 0

  init(sequence: UInt64, token: CommitToken? = nil, revision: Int64 = 0) {
    (self.sequence, self.token, self.revision) = (sequence, token, revision)
    value = "\(sequence) \(token?.text ?? "-")"
  }

  init?(_ pair: EtcdPair) {
    let words = pair.text.split(separator: " ")
    // Above the last numbers of commits, there is room to count on.
    guard words.count == 2, let sequence = UInt64(words[0]), sequence <= Int64.max else { return nil }
    (self.sequence, token) = (sequence, CommitToken(text: words[1]))
    (value, revision) = (pair.text, pair.modified.value)
  }

  var followed: FollowedCommit {
    FollowedCommit(sequence: sequence, known: token.map { .init(sequence: sequence, token: $0) })
  }
}

/// Where a log begins and ends, at one revision.
struct EtcdState: Sendable {
  let head: EtcdCommitReference
  /// The last forgotten commit.
  let start: EtcdCommitReference
  /// The last commit that the tables of the base include.
  let base: EtcdCommitReference
  /// The revision at which all this was read.
  let revision: Int64

  /// Every machine renews the base before it forgets commits.
  var isPossible: Bool { start.sequence <= base.sequence && base.sequence <= head.sequence }
}

/// A commit as it is stored in its key: a line `TOKEN SECONDS`, followed by the payload. If the payload is in parts,
/// the key has only a line `TOKEN SECONDS BYTES`.
struct EtcdCommit: Sendable {
  let sequence: UInt64
  let token: CommitToken
  /// When it was made, by the clock of the machine that made it.
  let date: Date
  /// The payload, or only its size if it is in parts.
  let content: Content

  enum Content: Sendable {
    case whole([UInt8])
    case parts(byteCount: Int)
  }

  var byteCount: Int {
    switch content {
    case .whole(let payload): payload.count
    case .parts(let count): count
    }
  }

  /// More than etcd can store.
  static let byteCounts = 0...1 << 40

  /// - Returns: `nil` if the pair is not a commit.
  init?(_ pair: EtcdPair) {
    let value = [UInt8](pair.value)
    guard let end = value.firstIndex(of: UInt8(ascii: "\n")),
      let sequence = EtcdKeys.sequence(of: [UInt8](pair.key))
    else { return nil }
    let words = value[..<end].split(separator: UInt8(ascii: " "))
    func number(_ word: ArraySlice<UInt8>) -> Int? { Int(String(decoding: word, as: UTF8.self)) }
    guard words.count >= 2, let token = CommitToken(digits: words[0]), let seconds = number(words[1])
    else { return nil }
    (self.sequence, self.token) = (sequence, token)
    date = Date(timeIntervalSince1970: TimeInterval(seconds))
    if words.count == 2 {
      content = .whole(Array(value[(end + 1)...]))
    } else {
      guard let count = number(words[2]), Self.byteCounts.contains(count) else { return nil }
      content = .parts(byteCount: count)
    }
  }
}
