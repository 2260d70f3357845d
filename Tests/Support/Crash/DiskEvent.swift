import FileDBStorage

/// What a disk was told, in the order in which it was told, as far as a power cut may undo it.
///
/// A file is known by a number of its own, because names come and go while its bytes stay.
package enum DiskEvent: Sendable {
  case makeFolder(String)
  case create(file: Int, String)
  case write(file: Int, offset: Int, [UInt8])
  case sync(file: Int)
  /// A sync that failed: the system marks the bytes as written, and no later sync brings them to the disk.
  case failedSync(file: Int)
  case rename(file: Int, from: String, to: String)
  /// A second name.
  case link(file: Int, from: String, to: String)
  case exchange(file: Int, String, with: Int, String)
  case remove(file: Int, String)
  case syncFolder(String)
  /// A commit with this number is about to be made: from here on it may be there after a power cut.
  case issued(Int)
  /// The commit with this number was reported as done: from here on it must be there.
  case acknowledged(Int)
}

extension Collection<DiskEvent> {
  /// A line for each event, with the names that the files had then.
  package var lines: [String] {
    var paths: [Int: String] = [:]
    func path(_ file: Int) -> String { paths[file] ?? "file \(file)" }
    return map { event in
      switch event {
      case .makeFolder(let path): return "mkdir \(path)"
      case .create(let file, let path):
        paths[file] = path
        return "create \(path)"
      case .write(let file, let offset, let bytes): return "write \(path(file)) \(offset) \(bytes.count)"
      case .sync(let file): return "sync \(path(file))"
      case .failedSync(let file): return "failed sync \(path(file))"
      case .rename(let file, let old, let new):
        paths[file] = new
        return "rename \(old) \(new)"
      case .link(_, let old, let new): return "link \(old) \(new)"
      case .exchange(let file, let path, let second, let other):
        (paths[file], paths[second]) = (other, path)
        return "exchange \(path) \(other)"
      case .remove(_, let path): return "remove \(path)"
      case .syncFolder(let path): return "syncFolder \(path)"
      case .issued(let number): return "(commit \(number) is issued)"
      case .acknowledged(let number): return "(commit \(number) is acknowledged)"
      }
    }
  }

  /// The last events, for a report.
  var story: String { lines.suffix(16).map { "    \($0)" }.joined(separator: "\n") }
}

/// A place in the program that makes something durable or moves a name, as far as the disk can tell it from others: by
/// what it is for.
package struct DurabilitySite: Hashable, Comparable, Sendable, CustomStringConvertible {
  package enum Call: String, Sendable {
    case sync, syncData, rename, exchange, remove, syncFolder

    package var isSync: Bool { [.sync, .syncData, .syncFolder].contains(self) }
  }

  package let call: Call
  /// What the file or folder is to the store, such as `table's draft`.
  package let subject: String
  /// The last thing that a sync makes durable, such as `rename of the table`; `nothing new` where this process had
  /// nothing to sync there, and another one may have.
  package let cause: String

  package init(_ call: Call, _ subject: String, after cause: String) {
    self.call = call
    self.subject = subject
    self.cause = cause
  }

  package var description: String {
    "\(call.rawValue) of the \(subject)\(call.isSync ? " after \(cause)" : "")"
  }

  package static func < (first: Self, second: Self) -> Bool { first.description < second.description }
}

/// What a path is to a store, without the name of the table and the random part of a draft's name.
package func subject(of path: String, storeFolder: String) -> String {
  let ownFolder = "\(storeFolder)/.filedb"
  if path == storeFolder { return "store's folder" }
  if path == ownFolder { return "own folder" }
  if storeFolder.hasPrefix(path) { return "folder above" }
  for (suffix, word) in [(".filedb-draft", "draft"), (".filedb-export", "draft"), (".filedb-swap", "swap")] {
    guard let target = targetOfDraft(path, suffix) else { continue }
    return "\(subject(of: target, storeFolder: storeFolder))'s \(word)"
  }
  guard path.hasPrefix("\(storeFolder)/") else { return path }
  if path.hasPrefix("\(ownFolder)/backups/") { return "backup" }
  if path.hasPrefix("\(ownFolder)/shipped/") { return "shipped table" }
  if path.hasPrefix("\(ownFolder)/undo/") { return "undo step" }
  if path.hasPrefix("\(ownFolder)/records-") { return "file of records" }
  if path.hasPrefix("\(ownFolder)/") { return String(path.dropFirst(ownFolder.count + 1)) }
  return "table"
}

/// The path of the file that the draft at `path` is to replace; `nil` if `path` is not a draft.
package func targetOfDraft(_ path: String, _ suffix: String = ".filedb-draft") -> String? {
  guard path.hasSuffix(suffix) else { return nil }
  let name = fileName(of: path)
  guard name.hasPrefix(".") else { return nil }
  let stem = name.dropFirst().dropLast(suffix.count)
  guard let dot = stem.lastIndex(of: ".") else { return nil }
  return "\(parentFolder(of: path))/\(stem[..<dot])"
}
