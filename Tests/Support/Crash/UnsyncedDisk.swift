import FileDBStorage

/// What of a disk is durable, and what a power cut may still undo.
///
/// It promises less than any file system does: a name is durable once its folder is synced and not before, a byte once
/// its file is.
struct UnsyncedDisk {
  struct Write {
    let offset: Int
    let bytes: [UInt8]
    /// After a failed sync no later one makes these bytes durable; another write of them may.
    var isGivenUp = false

    var end: Int { offset + bytes.count }

    /// What of this write `other` did not write over.
    func parts(outside other: Write) -> [Write] {
      let before = bytes.prefix(max(0, other.offset - offset))
      let after = bytes.dropFirst(max(0, other.end - offset))
      return [(offset, before), (max(offset, other.end), after)].filter { !$0.1.isEmpty }
        .map { Write(offset: $0.0, bytes: Array($0.1), isGivenUp: isGivenUp) }
    }
  }

  struct File {
    var durable: [UInt8] = []
    var writes: [Write] = []

    /// The bytes as every program sees them, all writes done.
    var live: [UInt8] { writes.reduce(into: durable) { $0.put($1.bytes, at: $1.offset) } }

    mutating func sync() {
      var givenUp: [Write] = []
      for write in writes {
        if write.isGivenUp {
          givenUp.append(write)
        } else {
          durable.put(write.bytes, at: write.offset)
          givenUp = givenUp.flatMap { $0.parts(outside: write) }
        }
      }
      writes = givenUp
    }
  }

  enum Entry: Equatable {
    case folder
    case file(Int)
  }

  enum NameChange {
    case add(String, Entry)
    case move(Int, from: String, to: String)
    case exchange(Int, String, Int, String)
    case remove(String, Int)

    func apply(to names: inout [String: Entry]) {
      switch self {
      case .add(let path, let entry): names[path] = entry
      case .move(let file, let old, let new):
        if names[old] == .file(file) { names[old] = nil }
        names[new] = .file(file)
      case .exchange(let first, let path, let second, let other):
        names[path] = .file(second)
        names[other] = .file(first)
      case .remove(let path, let file): if names[path] == .file(file) { names[path] = nil }
      }
    }
  }

  private(set) var files: [Int: File] = [:]
  private(set) var names: [String: Entry] = [:]
  /// What was done to names since their folder was synced, in order.
  private(set) var nameChanges: [(folder: String, change: NameChange)] = []
  /// What lies in blocks that were given back, and may show up in a file that grows before its data comes.
  private(set) var freedBytes: [UInt8] = []

  init(_ image: DiskImage) {
    for folder in image.folders { names[folder] = .folder }
    for (number, entry) in image.files.sorted(by: { $0.key < $1.key }).enumerated() {
      files[number] = File(durable: entry.value)
      names[entry.key] = .file(number)
    }
  }

  mutating func apply(_ event: DiskEvent) {
    switch event {
    case .makeFolder(let path): change(.add(path, .folder), in: path)
    case .create(let file, let path):
      files[file] = File()
      change(.add(path, .file(file)), in: path)
    case .write(let file, let offset, let bytes):
      files[file]!.writes.append(Write(offset: offset, bytes: bytes))
    case .sync(let file): files[file]!.sync()
    case .failedSync(let file):
      for index in files[file]!.writes.indices { files[file]!.writes[index].isGivenUp = true }
    case .rename(let file, let old, let new): rename(file, from: old, to: new)
    case .link(let file, _, let path): change(.add(path, .file(file)), in: path)
    case .exchange(let first, let path, let second, let other):
      change(.exchange(first, path, second, other), in: path)
    case .remove(let file, let path):
      free(file)
      change(.remove(path, file), in: path)
    case .syncFolder(let path):
      for entry in nameChanges where entry.folder == path { entry.change.apply(to: &names) }
      nameChanges.removeAll { $0.folder == path }
    case .issued, .acknowledged: break
    }
  }

  private mutating func change(_ change: NameChange, in path: String) {
    nameChanges.append((parentFolder(of: path), change))
  }

  private mutating func rename(_ file: Int, from old: String, to new: String) {
    if case .file(let replaced) = liveNames[new] { free(replaced) }
    if parentFolder(of: old) == parentFolder(of: new) {
      change(.move(file, from: old, to: new), in: new)
    } else {
      // Two folders are two places on the disk: one may be written and the other not.
      change(.add(new, .file(file)), in: new)
      change(.remove(old, file), in: old)
    }
  }

  private mutating func free(_ file: Int) { freedBytes = files[file]!.live }

  private var liveNames: [String: Entry] { names(keeping: Array(repeating: true, count: nameChanges.count)) }

  /// The names that are there when of the changes to names only some reached the disk.
  func names(keeping kept: [Bool]) -> [String: Entry] {
    var result = names
    for (entry, isKept) in zip(nameChanges, kept) where isKept { entry.change.apply(to: &result) }
    // What is in a folder that is not there is not there either.
    var isReachable: [String: Bool] = ["/": true]
    func reaches(_ folder: String) -> Bool {
      if let known = isReachable[folder] { return known }
      let reached = result[folder] == .folder && reaches(parentFolder(of: folder))
      isReachable[folder] = reached
      return reached
    }
    return result.filter { reaches(parentFolder(of: $0.key)) }
  }
}

extension [UInt8] {
  /// Writes over what is at `offset`; zeros come between the end and a later offset.
  mutating func put(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    let missing = offset + bytes.count - count
    if missing > 0 { self += [UInt8](repeating: 0, count: missing) }
    // Not `replaceSubrange`, which without optimization goes byte by byte.
    withUnsafeMutableBytes { buffer in
      bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + bytes.count]).copyMemory(from: $0)
      }
    }
  }

  mutating func put(_ bytes: [UInt8], at offset: Int) { put(bytes[...], at: offset) }
}
