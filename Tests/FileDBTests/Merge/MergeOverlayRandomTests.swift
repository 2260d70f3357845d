import FileDB
import Foundation
import TestSupport
import Testing

/// Merges of two branches of a user's store over an attached one, after random verbs on different records in each.
@Suite struct MergeOverlayRandomTests {
  /// Seen over the attached table, the merged table equals one to which both sides applied their edits one after the
  /// other, except for the ids of added records and for the order.
  @Test func mergeContainsWorkOfBothSides() throws {
    var random = SeededRandom.fromEnvironment("merge over an attached store")
    for _ in 0..<25 {
      try withTemporaryFolder { folder in
        let stores = OverlayStores(folder: folder)
        try stores.ship(&random)
        let ids = try stores.edit("base", with: (1...12).map { RecordID<Fields>(rawValue: $0)! }, &random)
        let mine = Set(ids.filter { _ in Bool.random(using: &random) })
        let edits = [
          OverlayEdits(of: ids.filter(mine.contains), &random),
          OverlayEdits(of: ids.filter { !mine.contains($0) }, &random),
        ]
        let ours = try stores.branch("ours", edits[...0])
        let theirs = try stores.branch("theirs", edits[1...])
        let both = try stores.branch("both", edits[...])
        for (name, sides) in [("merged", [ours, theirs]), ("turned", [theirs, ours])] {
          let merge = try TableMerge(base: stores.own("base"), ours: sides[0], theirs: sides[1])
          try #require(merge.conflicts.isEmpty)
          try #require(merge.renumbered.allSatisfy { $0.oldID.rawValue > 1_000_000_000 })
          try stores.write(merge.merged, as: name)
          try compare(
            stores.open(name).table("foods").lastSnapshot, stores.open("both").table("foods").lastSnapshot,
            ids)
          for id in ids {
            // The merged record is that of the side which was allowed to change it.
            let side = mine.contains(id) ? ours : theirs
            try #require(merge.merged.record(id) == side.record(id), "record \(id)")
            let marks = ["wgFileDbOverrides", "wgFileDbDeleted"]
            for mark in marks { try #require(merge.merged.record(id)?[mark] == both.record(id)?[mark]) }
          }
          try stores.open(name).checkInvariants()
        }
      }
    }
  }

  private func compare(
    _ merged: TableSnapshot<Fields>, _ both: TableSnapshot<Fields>, _ ids: [RecordID<Fields>]
  ) throws {
    for id in ids { try #require(merged.record(id) == both.record(id), "record \(id)") }
    let added = [merged, both].map { seen in
      seen.filter { !ids.contains($0.id) }.map { "\($0.fields)" }.sorted()
    }
    try #require(added[0] == added[1])
  }
}

extension TableSnapshot<Fields> {
  fileprivate func record(_ id: RecordID<Fields>) -> Fields? { try? record(with: id).value }
}

/// The folders of an attached store, and of a user's in several branches.
private struct OverlayStores {
  let folder: URL
  private let options = StoreOptions(checkpoints: .manual, durability: .none)

  init(folder: URL) { self.folder = folder }

  func ship(_ random: inout SeededRandom) throws {
    let store = try RecordStore(at: url("shipped"), options: options)
    // Few values, so that records are alike.
    let foods: [Fields] = (1...12).map { _ in
      ["a": .integer(.random(in: 0...2, using: &random)), "b": .integer(.random(in: 0...2, using: &random))]
    }
    try store.table("foods").add(contentsOf: foods)
    try store.checkpoint()
  }

  func open(_ name: String) throws -> RecordStore {
    try RecordStore(at: url(name), attaching: url("shipped"), as: "main", options: options)
  }

  /// - Returns: the ids that a branch may do something to.
  func edit(_ name: String, with ids: [RecordID<Fields>], _ random: inout SeededRandom) throws -> [RecordID<
    Fields
  >] {
    let edits = OverlayEdits(of: ids, &random)
    let store = try open(name)
    try store.table("foods").add(["name": "a file in any case"])
    try edits.apply(to: store.table("foods"))
    let all = Set(ids).union(try store.table("foods").lastSnapshot.ids).sorted()
    try store.checkpoint()
    return all
  }

  /// The user's own table, after edits in a copy of the base.
  func branch(_ name: String, _ edits: ArraySlice<OverlayEdits>) throws -> TableSnapshot<Fields> {
    try FileManager.default.copyItem(at: url("base"), to: url(name))
    let store = try open(name)
    for edits in edits { try edits.apply(to: store.table("foods")) }
    try store.checkpoint()
    return try own(name)
  }

  func own(_ name: String) throws -> TableSnapshot<Fields> {
    try TableSnapshot(contentsOf: url(name).appendingPathComponent("foods.plist"))
  }

  func write(_ table: TableSnapshot<Fields>, as name: String) throws {
    try FileManager.default.createDirectory(at: url(name), withIntermediateDirectories: true)
    try table.write(to: url(name).appendingPathComponent("foods.plist"))
  }

  private func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

/// Ordinary verbs on some of the records, so that they do the same whatever happens to the others.
private struct OverlayEdits {
  private enum Edit {
    case set(RecordID<Fields>, Fields)
    case unset(RecordID<Fields>, String)
    case delete(RecordID<Fields>)
    case revert(RecordID<Fields>)
    case move(RecordID<Fields>, Position<Fields>)
    case add(Fields, Position<Fields>)
    case duplicate(RecordID<Fields>, Fields)
  }

  private var edits: [Edit] = []

  init(of ids: [RecordID<Fields>], _ random: inout SeededRandom) {
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      let record: Fields = [
        ["a", "b", "c"].randomElement(using: &random)!: .integer(.random(in: 0...3, using: &random))
      ]
      let place = Self.place(among: ids, &random)
      guard let id = ids.randomElement(using: &random) else {
        edits.append(.add(Self.tag(&random), place))
        continue
      }
      switch Int.random(in: 0...9, using: &random) {
      case 0...2: edits.append(.set(id, record))
      case 3: edits.append(.unset(id, ["a", "b"].randomElement(using: &random)!))
      case 4: edits.append(.delete(id))
      case 5: edits.append(.revert(id))
      case 6...7: edits.append(.move(id, place))
      case 8: edits.append(.add(Self.tag(&random), place))
      default: edits.append(.duplicate(id, Self.tag(&random)))
      }
    }
  }

  /// Makes an added record differ from each that the other side adds: identical records with one id would become one.
  private static func tag(_ random: inout SeededRandom) -> Fields {
    ["tag": .integer(.random(in: 0 ... .max, using: &random))]
  }

  private static func place(among ids: [RecordID<Fields>], _ random: inout SeededRandom) -> Position<Fields> {
    let others = ids.shuffled(using: &random).prefix(1)
    return [.top, .bottom, others.first.map { .after($0) } ?? .top].randomElement(using: &random)!
  }

  func apply(to foods: RecordTable<Fields>) throws {
    for edit in edits {
      switch edit {
      case .set(let id, let fields) where foods.contains(id): try foods.set(fields, of: id)
      case .unset(let id, let field) where foods.contains(id): try foods.unset([field], of: id)
      case .delete(let id) where foods.contains(id): try foods.delete(id)
      case .revert(let id) where try foods.isShipped(id): try foods.revert(id)
      case .move(let id, .after(let other)) where !foods.contains(other) || other == id:
        if foods.contains(id) { try foods.move(id, to: .top) }
      case .move(let id, let place) where foods.contains(id): try foods.move(id, to: place)
      case .add(let fields, .after(let other)) where !foods.contains(other): try foods.add(fields)
      case .add(let fields, let place): try foods.add(fields, at: place)
      case .duplicate(let id, let fields) where foods.contains(id):
        try foods.set(fields, of: foods.duplicate(id))
      default: break
      }
    }
  }
}

extension RecordTable<Fields> {
  fileprivate func contains(_ id: RecordID<Fields>) -> Bool { lastSnapshot.index(of: id) != nil }
}
