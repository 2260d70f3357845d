import FileDBStorage

/// The states in which a power cut at one moment may leave a disk.
struct CrashStates {
  /// How many states to try at each moment. Fewer are tried if there are not so many, and then all of them.
  struct Detail {
    var imagesOfAFile: Int
    /// At most this many sets of names are tried, the durable names always.
    var namings = Int.max
    var states: Int
  }

  /// Up to this many changes to names every subset of them is tried.
  private static let exhaustiveNames = 10

  private let disk: UnsyncedDisk
  private let images: [Int: [FileImages.Image]]
  private let namings: [Naming]
  private let detail: Detail

  /// The names that are there, and what files they lead to.
  private struct Naming {
    var folders: [String] = []
    var files: [(path: String, file: Int)] = []
    var label: String

    /// The hash of all but the files' bytes, without what is random in the name of a draft.
    var digest: Int {
      var hasher = Hasher()
      hasher.combine(folders)
      for (path, _) in files { hasher.combine(targetOfDraft(path).map { "\($0) draft" } ?? path) }
      return hasher.finalize()
    }
  }

  init(of disk: UnsyncedDisk, detail: Detail, random: inout SeededRandom) {
    self.disk = disk
    self.detail = detail
    var images: [Int: [FileImages.Image]] = [:]
    for (number, file) in disk.files.sorted(by: { $0.key < $1.key }) {
      images[number] = FileImages(file, freedBytes: disk.freedBytes)
        .all(limit: detail.imagesOfAFile, random: &random)
    }
    self.images = images
    let all = Self.namings(of: disk, random: &random)
    namings =
      all.count <= detail.namings
      ? all : [all[0]] + all.dropFirst().shuffled(using: &random).prefix(detail.namings - 1)
  }

  private static func namings(of disk: UnsyncedDisk, random: inout SeededRandom) -> [Naming] {
    var seen: Set<Int> = []
    var result: [Naming] = []
    for kept in choices(of: disk.nameChanges.count, exhaustiveUpTo: exhaustiveNames, random: &random) {
      var naming = Naming(label: label(of: kept))
      for (path, entry) in disk.names(keeping: kept).sorted(by: { $0.key < $1.key }) {
        switch entry {
        case .folder: naming.folders.append(path)
        case .file(let file): naming.files.append((path, file))
        }
      }
      var hasher = Hasher()
      hasher.combine(naming.digest)
      hasher.combine(naming.files.map(\.file))
      if seen.insert(hasher.finalize()).inserted { result.append(naming) }
    }
    return result
  }

  private static func label(of kept: [Bool]) -> String {
    kept.isEmpty ? "" : "changes to names kept: \(kept.map { $0 ? "1" : "0" }.joined())"
  }

  struct State {
    let image: DiskImage
    let label: String

    var text: String { "\(label.isEmpty ? "nothing is un-synced" : label); the disk holds \(image.summary)" }
  }

  /// Calls `body` for each state with its hash, and with a closure that makes it, for many need not be made again.
  func forEach(
    random: inout SeededRandom, _ body: (_ digest: Int, _ make: () -> State) throws -> Void
  ) rethrows {
    let counts = namings.map { naming in
      naming.files.reduce(1) { min($0 * images[$1.file]!.count, detail.states + 1) }
    }
    if counts.reduce(0, +) <= detail.states {
      for naming in namings { try forEachChoice(of: naming, body) }
      return
    }
    for naming in namings {
      try forEachSingleChoice(of: naming, body)
    }
    for _ in 0..<detail.states / 2 {
      let naming = namings.randomElement(using: &random)!
      let choice = naming.files.map { Int.random(in: 0..<images[$0.file]!.count, using: &random) }
      try visit(naming, choice, body)
    }
  }

  private func forEachChoice(of naming: Naming, _ body: (Int, () -> State) throws -> Void) rethrows {
    var choice = naming.files.map { _ in 0 }
    while true {
      try visit(naming, choice, body)
      // Counts on, the first file's images first.
      var position = 0
      while position < choice.count, choice[position] + 1 == images[naming.files[position].file]!.count {
        choice[position] = 0
        position += 1
      }
      if position == choice.count { return }
      choice[position] += 1
    }
  }

  /// Each image of each file, with the others at their oldest and at their newest.
  private func forEachSingleChoice(of naming: Naming, _ body: (Int, () -> State) throws -> Void) rethrows {
    for others in 0...1 {
      let base = naming.files.map { min(others, images[$0.file]!.count - 1) }
      try visit(naming, base, body)
      for (position, file) in naming.files.enumerated() {
        for number in images[file.file]!.indices where number != base[position] {
          var choice = base
          choice[position] = number
          try visit(naming, choice, body)
        }
      }
    }
  }

  private func visit(
    _ naming: Naming, _ choice: [Int], _ body: (Int, () -> State) throws -> Void
  ) rethrows {
    let chosen = zip(naming.files, choice).map { ($0.path, images[$0.file]![$1]) }
    var hasher = Hasher()
    hasher.combine(naming.digest)
    for (_, image) in chosen { hasher.combine(image.digest) }
    try body(hasher.finalize()) {
      var image = DiskImage()
      image.folders = Set(naming.folders)
      for (path, file) in chosen { image.files[path] = file.bytes }
      let files = zip(naming.files, chosen).filter { !disk.files[$0.0.file]!.writes.isEmpty }
        .map { "\($0.1.0): writes kept: \($0.1.1.label)" }
      return State(
        image: image, label: ([naming.label] + files).filter { !$0.isEmpty }.joined(separator: "; "))
    }
  }
}
