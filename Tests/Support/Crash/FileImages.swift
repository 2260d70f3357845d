/// The contents that one file may have after a power cut.
///
/// The disk may have taken any of the un-synced writes, in any order and in part: each sector of 512 bytes is taken as
/// a whole or not, in any order; or all come in order, and end at any byte. The file's size may run ahead of its data;
/// what then shows is zeros, or what lay in those blocks before.
struct FileImages {
  static let sector = 512
  /// Up to this many sectors every subset of them is tried.
  private static let exhaustiveSectors = 7

  struct Image {
    let bytes: [UInt8]
    let digest: Int
    let label: String
  }

  /// A part of one write that lies within one sector.
  private struct Piece {
    var offset: Int
    var bytes: ArraySlice<UInt8>
    var end: Int { offset + bytes.count }
  }

  private enum Growth: String, CaseIterable { case asFarAsTheData, halfway, zeros, oldBlocks }

  /// What to try: which pieces arrived, and how far the file has grown.
  private struct Plan {
    var kept: [Piece]
    var growth: Growth
    var label: String
  }

  private let file: UnsyncedDisk.File
  private let freedBytes: [UInt8]
  private let pieces: [Piece]
  private let fullSize: Int

  init(_ file: UnsyncedDisk.File, freedBytes: [UInt8]) {
    self.file = file
    self.freedBytes = freedBytes
    let oldSize = file.durable.count
    // Zeros behind the old end are what a file that only grew has anyway.
    pieces = file.writes.flatMap(Self.pieces).filter { $0.offset < oldSize || $0.bytes.contains { $0 != 0 } }
    fullSize = max(oldSize, file.writes.map(\.end).max() ?? 0)
  }

  private static func pieces(of write: UnsyncedDisk.Write) -> [Piece] {
    var pieces: [Piece] = []
    var start = 0
    while start < write.bytes.count {
      let length = sector - (write.offset + start) % sector
      let end = min(start + length, write.bytes.count)
      pieces.append(Piece(offset: write.offset + start, bytes: write.bytes[start..<end]))
      start = end
    }
    return pieces
  }

  /// The images, each once: first the one without any un-synced write, then the one with all of them, then at most
  /// `limit` others, chosen by `random` if there are more.
  func all(limit: Int, random: inout SeededRandom) -> [Image] {
    let none = Plan(kept: [], growth: .asFarAsTheData, label: "none")
    if file.writes.isEmpty { return [image(none)] }
    let all = Plan(kept: pieces, growth: .zeros, label: "all")
    var plans = subsets(random: &random) + tears(limit: limit, random: &random)
    if plans.count > limit { plans = Array(plans.shuffled(using: &random).prefix(limit)) }
    var seen: Set<Int> = []
    return ([none, all] + plans).map(image).filter { seen.insert($0.digest).inserted }
  }

  private func image(_ plan: Plan) -> Image {
    var bytes = file.durable
    switch plan.growth {
    case .asFarAsTheData: break
    case .halfway: bytes.put([], at: (bytes.count + fullSize) / 2)
    case .zeros: bytes.put([], at: fullSize)
    case .oldBlocks:
      let old = freedBytes.dropFirst(bytes.count).prefix(fullSize - bytes.count)
      bytes += old
      bytes.put([], at: fullSize)
    }
    for piece in plan.kept { bytes.put(piece.bytes, at: piece.offset) }
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(bytes.count)
    return Image(bytes: bytes, digest: hasher.finalize(), label: plan.label)
  }

  /// Some of the sectors, whole.
  private func subsets(random: inout SeededRandom) -> [Plan] {
    choices(of: pieces.count, exhaustiveUpTo: Self.exhaustiveSectors, random: &random).flatMap { chosen in
      let kept = zip(pieces, chosen).filter(\.1).map(\.0)
      let names = zip(0..., chosen).filter(\.1).map { String($0.0) }.joined(separator: " ")
      return growths.map { growth in
        Plan(kept: kept, growth: growth, label: "sectors [\(names)] of \(pieces.count), size \(growth)")
      }
    }
  }

  /// All sectors up to one that is torn at a byte.
  private func tears(limit: Int, random: inout SeededRandom) -> [Plan] {
    var cuts = pieces.indices.flatMap { number in
      (1..<max(pieces[number].bytes.count, 1)).map { (number, $0) }
    }
    if cuts.count > limit { cuts = Array(cuts.shuffled(using: &random).prefix(limit)) }
    return cuts.flatMap { number, cut in
      let place = "byte \(cut) of sector \(number) of \(pieces.count)"
      var head = pieces[number]
      head.bytes = head.bytes.prefix(cut)
      return growths.map { growth in
        Plan(kept: pieces[..<number] + [head], growth: growth, label: "up to \(place), size \(growth)")
      }
    }
  }

  private var growths: [Growth] { fullSize > file.durable.count ? Growth.allCases : [.asFarAsTheData] }
}

/// Which of `count` things there are: every subset of few, of many none, all, each prefix, each one, each but one, each
/// pair and some at random.
func choices(of count: Int, exhaustiveUpTo limit: Int, random: inout SeededRandom) -> [[Bool]] {
  if count <= limit {
    return (0..<1 << count).map { bits in (0..<count).map { bits >> $0 & 1 == 1 } }
  }
  var result = [Array(repeating: false, count: count)]
  for first in 0..<count {
    let one = (0..<count).map { $0 == first }
    result += [one, one.map { !$0 }, (0..<count).map { $0 <= first }]
  }
  let pairLimit = min(count, 32)
  for first in 0..<pairLimit {
    for second in 0..<first { result.append((0..<count).map { $0 == first || $0 == second }) }
  }
  for _ in 0..<1_000 {
    result.append((0..<count).map { _ in Bool.random(using: &random) })
  }
  return result
}
