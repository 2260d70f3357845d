import Dispatch
import FileDBPlist
import FileDBStorage
import FileDBTables
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDB

/// Somebody changes the files in `.filedb/offsets`, and makes their checksums right again. Nothing that these files say
/// may change what a command shows or writes.
@Suite struct ForgedNotesTests {
  private static let folder = URL(fileURLWithPath: "/store")
  private static let offsetsFolder = "/store/.filedb/offsets"

  // MARK: - The stores

  /// A table of 17 chunks, whose index map is too long to be read at once.
  private func makeDisk(withWaitingCommits isWaiting: Bool) throws -> MemoryDisk {
    let disk = MemoryDisk()
    let store = try open(disk) { _ in fatalError("the files are sound") }
    let table = try store.table("t")
    try table.declare(
      TableSchema(fields: [FieldSchema("n", type: .integer, isUnique: true), FieldSchema("text")]))
    let ids = try table.add(
      contentsOf: (0..<200).map { ["n": .integer($0), "text": .string("record \($0)")] })
    try table.move(ids[150], to: .top)
    try store.checkpoint()
    if isWaiting {
      try table.add(["n": 1_000], at: .top)
      try table.delete(ids[77])
    }
    try store.close()
    return disk
  }

  private func open(
    _ disk: MemoryDisk, giveUp: (@Sendable (StoreError) -> Never)? = nil
  ) throws -> RecordStore {
    var options = StoreOptions(checkpoints: .manual)
    options.shape = OrderedRecords.Shape(chunk: 16, section: 4)
    options.leastUnread = 1
    if let giveUp { options.reading = .pieces(giveUp: giveUp) }
    return try RecordStore(at: Self.folder, disk: disk, options: options)
  }

  // MARK: - What is done with them

  private enum Action: Sendable {
    case count, show
    case index(Int64)
    case get(Int64)
    case at(Int)
    case add(Int64)
    case addOnTop(Int64)
    case set(Int64, Int64)
    case move(Int64, Int)
    case delete(Int64)
    case checkpoint

    static func random(_ random: inout SeededRandom) -> Action {
      let (id, place) = (Int64.random(in: 1...203, using: &random), Int.random(in: 0..<200, using: &random))
      let number = Int64.random(in: 2_000...9_999, using: &random)
      return switch Int.random(in: 0..<11, using: &random) {
      case 0: .count
      case 1: .show
      case 2: .index(id)
      case 3: .get(id)
      case 4: .at(place)
      case 5: .add(number)
      case 6: .addOnTop(number)
      case 7: .set(id, number)
      case 8: .move(id, place)
      case 9: .delete(id)
      default: .checkpoint
      }
    }

    /// What it shows.
    func perform(in store: RecordStore) throws -> String {
      let table = try store.table("t")
      do {
        switch self {
        case .count: return try "\(table.snapshot().count) \(table.snapshot().counter)"
        case .show: return try "\(table.snapshot().map { "\($0.id) \($0.fields)" })"
        case .index(let id): return try "\(table.snapshot().index(of: RecordID(rawValue: id)!) ?? -1)"
        case .get(let id): return try "\(table.value(of: RecordID(rawValue: id)!))"
        case .at(let place): return try "\(table.snapshot().dropFirst(place).first?.id.rawValue ?? -1)"
        case .add(let number): return try "\(table.add(["n": .integer(number)]))"
        case .addOnTop(let number): return try "\(table.add(["n": .integer(number)], at: .top))"
        case .set(let id, let number): try table.set(["n": .integer(number)], of: RecordID(rawValue: id)!)
        case .move(let id, let place): try table.move(RecordID(rawValue: id)!, to: .index(place))
        case .delete(let id): try table.delete(RecordID(rawValue: id)!)
        case .checkpoint: try store.checkpoint()
        }
        return ""
      } catch let error as StoreError {
        return "\(error.code)"
      }
    }
  }

  /// A process of its own, as it were: it reads files in pieces and ends where a command would begin again.
  private func perform(_ actions: [Action], on disk: MemoryDisk) throws -> [String] {
    let shown = Mutex<Result<[String], any Error>>(.success([]))
    let end = DispatchSemaphore(value: 0)
    let thread = Thread { [self] in
      do {
        let store = try open(disk) { _ in
          end.signal()
          while true { sleep(1_000) }
        }
        for action in actions {
          let text = try action.perform(in: store)
          shown.withLock { $0 = .success(((try? $0.get()) ?? []) + [text]) }
        }
      } catch {
        shown.withLock { $0 = .failure(error) }
      }
      end.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
    end.wait()
    return try shown.withLock { try $0.get() }
  }

  /// Everything in the store, as a program that reads whole files finds it.
  private func content(of disk: MemoryDisk) throws -> String {
    let store = try open(disk)
    let table = try store.table("t").snapshot()
    let records = table.map { "\($0.id) \($0.fields)" }
    return "\(table.counter) \(records) \(String(describing: try table.schema))"
  }

  /// What actions show, and what is in the store after them.
  private struct Outcome {
    let shown: [String]
    let content: String
  }

  /// - Returns: the outcome in a store that has no such files.
  private func soundOutcome(isWaiting: Bool, _ actions: some Sequence<Action>) throws -> Outcome {
    let sound = try makeDisk(withWaitingCommits: isWaiting)
    for file in try sound.list(Self.offsetsFolder) { try sound.remove("\(Self.offsetsFolder)/\(file)") }
    let store = try open(sound)
    return Outcome(shown: try actions.map { try $0.perform(in: store) }, content: try content(of: sound))
  }

  /// The outcomes of the first `actions`, by their number.
  private func soundOutcomes(isWaiting: Bool) throws -> [Outcome] {
    try (0...Self.actions.count).map {
      try soundOutcome(isWaiting: isWaiting, Self.actions.prefix($0))
    }
  }

  /// Compares a store in which `forge` changes a file with one that has no such files.
  /// - Parameters:
  ///   - suffix: the end of the file's name.
  ///   - expected: the outcome of this many of the actions.
  private func compare(
    _ suffix: String, isWaiting: Bool, _ actions: [Action], _ comment: Comment,
    with expected: (Int) throws -> Outcome, forge: ([UInt8]) -> [UInt8]
  ) throws {
    let forged = try makeDisk(withWaitingCommits: isWaiting)
    let files = try forged.list(Self.offsetsFolder).filter { $0.hasSuffix(suffix) }
    let file = try #require(files.first)
    let bytes = try forge(forged.read("\(Self.offsetsFolder)/\(file)").bytes)
    _ = try forged.replace("\(Self.offsetsFolder)/\(file)", with: bytes)
    let shown = try perform(actions, on: forged)

    let sound = try expected(shown.count)
    #expect(shown == sound.shown, comment)
    #expect(try content(of: forged) == sound.content, comment)
  }

  // MARK: - Offsets

  private static let actions: [Action] = [
    .count, .get(100), .add(2_000), .at(190), .index(33), .show, .addOnTop(2_001), .checkpoint, .get(201),
  ]

  @Test(arguments: [false, true]) func forgedNumberInOffsetsChangesNothing(isWaiting: Bool) throws {
    let disk = try makeDisk(withWaitingCommits: isWaiting)
    let sound = try soundOutcomes(isWaiting: isWaiting)
    let words = try disk.read("\(Self.offsetsFolder)/t").bytes.count / 8
    for word in 0..<words {
      for value in [0, 1, .max, .max / 2, .max / 2 - 1, 1 << 32, 1 << 62] as [UInt64] {
        let comment: Comment = "number \(word) becomes \(value)"
        try compare("t", isWaiting: isWaiting, Self.actions, comment, with: { sound[$0] }) {
          var bytes = $0
          bytes.setWord(word, to: value)
          return bytes.withChecksum
        }
      }
      for step in [-1, 1, 8] {
        let comment: Comment = "number \(word) moves by \(step)"
        try compare("t", isWaiting: isWaiting, Self.actions, comment, with: { sound[$0] }) {
          var bytes = $0
          bytes.setWord(word, to: UInt64(bitPattern: Int64(bitPattern: bytes.word(word)) &+ Int64(step)))
          return bytes.withChecksum
        }
      }
    }
  }

  /// The schema follows the index map in the file. Without it, records could break its rules.
  @Test(arguments: [false, true]) func schemaDoesNotPassForAPartOfTheIndexMap(isWaiting: Bool) throws {
    let file = try makeDisk(withWaitingCommits: isWaiting).read("/store/t.plist").bytes
    let end = Array("\n\t</dict>\n".utf8)
    let places = file.indices.filter { file[$0...].starts(with: end) }.map { $0 + 1 }
    #expect(places.count == 2, "the index map and the schema")
    let sound = try soundOutcomes(isWaiting: isWaiting)
    for place in places {
      let comment: Comment = "the index map ends at \(place)"
      try compare("t", isWaiting: isWaiting, Self.actions, comment, with: { sound[$0] }) {
        var bytes = $0
        bytes.setWord(10, to: UInt64(place))
        return bytes.withChecksum
      }
    }
  }

  @Test func forgedOffsetsChangeNothing() throws {
    try compareForged("t", "forgedOffsetsChangeNothing") { $0.withChecksum }
  }

  // MARK: - Lookups

  @Test func forgedLookupsTrapNothingAndDecideNoID() throws {
    try compareForged(".lookup", "forgedLookupsTrapNothingAndDecideNoID") { bytes in
      bytes.withChecksums(ofHeadUpTo: bytes.count - 200 * 12 - 4)
    }
  }

  /// Does random actions in stores whose files were forged in random places.
  /// - Parameter seal: gives forged bytes right checksums.
  private func compareForged(_ file: String, _ name: String, seal: ([UInt8]) -> [UInt8]) throws {
    var random = SeededRandom.fromEnvironment(name)
    for _ in 0..<150 {
      let actions = (0..<Int.random(in: 1...8, using: &random)).map { _ in Action.random(&random) }
      let start = SeededRandom(seed: random.next())
      let isWaiting = Bool.random(using: &random)
      try compare(
        file, isWaiting: isWaiting, actions, "seed \(random.seed), \(start.seed): \(actions)",
        with: { try soundOutcome(isWaiting: isWaiting, actions.prefix($0)) }
      ) { bytes in
        var (bytes, random) = (bytes, start)
        bytes.forge(&random)
        return seal(bytes)
      }
    }
  }
}

// MARK: - Forging

extension [UInt8] {
  fileprivate func word(_ number: Int) -> UInt64 {
    self[8 * number..<8 * number + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate mutating func setWord(_ number: Int, to value: UInt64) {
    var word: [UInt8] = []
    word.append(littleEndian: value)
    replaceSubrange(8 * number..<8 * number + 8, with: word)
  }

  /// Changes one to three places.
  fileprivate mutating func forge(_ random: inout SeededRandom) {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard count >= 8 else { return }
      let word = Int.random(in: 0..<count / 8, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: setWord(word, to: .random(in: .min ... .max, using: &random))
      case 1: setWord(word, to: .random(in: 0...300, using: &random))
      case 2: setWord(word, to: self.word(Int.random(in: 0..<count / 8, using: &random)))
      case 3: setWord(word, to: self.word(word) ^ 1 << UInt64.random(in: 0..<64, using: &random))
      case 4: setWord(word, to: self.word(word) &+ .random(in: 0...400, using: &random))
      case 5: setWord(word, to: self.word(word) &- .random(in: 0...400, using: &random))
      case 6: removeSubrange(8 * word..<8 * word + 8)
      default: insert(contentsOf: self[8 * word..<8 * word + 8], at: 8 * word)
      }
    }
  }

  /// With the right checksum at its end.
  fileprivate var withChecksum: [UInt8] {
    var bytes = Array(dropLast(4))
    bytes.append(littleEndian: Checksum.of(bytes))
    return bytes
  }

  /// A lookup of a single block with the right checksums: that of the head, and that of the block.
  fileprivate func withChecksums(ofHeadUpTo head: Int) -> [UInt8] {
    guard count > head + 4 else { return self }
    var place = Array(self[64..<72])  // The random number.
    place.append(littleEndian: UInt64(0))
    let block = Array(self[head...].dropLast(4))
    var bytes = Array(self[..<head]).withChecksum + block
    bytes.append(littleEndian: Checksum.of(place + block))
    return bytes
  }
}
