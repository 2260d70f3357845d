import FileDB
import Foundation

// The levels of a game: each has a number, the name of a background picture, and a map as bytes. The game finds a
// level by its number, and shows it again when another program replaces its map:
//
//     Levels
//     Levels FOLDER 2
//     filedb --store FOLDER set levels 2 map:data=@new.map

struct Level: Codable, Sendable {
  var number: Int
  var background: String
  var map: Data
}

extension TableName<Level> { static var levels: Self { "levels" } }

extension Level {
  static let width = 8

  /// A line for each eight bytes: 0 is empty, 1 a wall, 2 a piece.
  var picture: String {
    let symbols: [Character] = [".", "#", "o"]
    var lines = ["level \(number), background \(background)"]
    var rest = map[...]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(Self.width).map { $0 < symbols.count ? symbols[Int($0)] : "?" }))
      rest = rest.dropFirst(Self.width)
    }
    return lines.joined(separator: "\n")
  }
}

/// Finds levels by their numbers.
struct LevelManager {
  let table: RecordTable<Level>

  init(in store: RecordStore) throws {
    table = try store.table(.levels).withLookup(by: \.number)
    if try !table.exists { try table.add(contentsOf: Self.firstLevels) }
  }

  func level(_ number: Int) throws -> StoredRecord<Level>? {
    try table.records(where: \.number, equals: number).first
  }

  private static let firstLevels = (1...3).map { number in
    let floor = [UInt8](repeating: 1, count: Level.width)
    let pieces = (0..<Level.width).map { UInt8($0 < number ? 2 : 0) }
    return Level(number: number, background: "sky-\(number).png", map: Data(pieces + floor))
  }
}

@main
struct Levels {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.isEmpty { return try showFirstLevels() }
    guard arguments.count == 2, let number = Int(arguments[2]) else {
      FileHandle.standardError.write(Data("usage: Levels [FOLDER NUMBER]\n".utf8))
      exit(64)
    }
    try await show(number, in: URL(fileURLWithPath: arguments[1]))
  }

  /// What the program shows without arguments.
  private static func showFirstLevels() throws {
    let manager = try LevelManager(in: RecordStore.inMemory())
    for level in try manager.table.snapshot().values().get() { print(level.picture) }
  }

  /// Shows a level whenever it changes, until it is deleted.
  private static func show(_ number: Int, in folder: URL) async throws {
    let store = try RecordStore(at: folder)
    let manager = try LevelManager(in: store)
    guard let level = try manager.level(number) else {
      print("there is no level \(number)")
      exit(1)
    }
    for await change in manager.table.changes(of: level.id) {
      guard let record = change.after else {
        print("the level is gone")
        break
      }
      let picture: String
      do { picture = try record.value.picture } catch { picture = "the level cannot be shown: \(error)" }
      FileHandle.standardOutput.write(Data((picture + "\n").utf8))
    }
    try await store.close()
  }
}
