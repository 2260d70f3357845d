import FileDBPlist
import Foundation

/// The last writes of a store that can be taken back, kept in files, for programs that run for one write only.
///
/// Each step is a property list of its own in the store's folder, numbered as they came. They are no part of the commit: a
/// crash between the two leaves a write that cannot be undone, and never a wrong undo, for ``RecordStore/undo(_:)`` looks at
/// what is there.
package struct UndoHistory {
  package enum Direction: String, Sendable {
    case undo, redo

    package var opposite: Direction { self == .undo ? .redo : .undo }
  }

  /// How many steps are kept, and how many bytes of records each may have.
  package static let limit = 50
  package static let longestStep = 32 << 20
  private static let numberLimit = 1 << 53

  private let store: RecordStore
  private let longestStep: Int
  private var disk: StoreDisk { get throws(StoreError) { try store.folder.disk } }

  package init(_ store: RecordStore, longestStep: Int = UndoHistory.longestStep) {
    (self.store, self.longestStep) = (store, longestStep)
  }

  /// Adds a write that was just made. What was undone before cannot be redone any more.
  /// - Parameter step: `nil` for one that is longer than ``longestStep``.
  /// - Returns: false where it is too long to be kept; then there is nothing to undo.
  package func add(_ step: UndoStep?) throws -> Bool {
    try removeAll(.redo)
    guard let step, try put(step, .undo) else {
      try removeAll(.undo)
      return false
    }
    for number in try numbers(.undo).dropLast(Self.limit) { try remove(number, .undo) }
    return true
  }

  /// Takes back what `direction` has last, and keeps what takes that back in turn.
  /// - Returns: the names of the tables; `nil` where there is nothing.
  /// - Throws: as ``RecordStore/undo(_:)``; the step stays then.
  package func takeBack(_ direction: Direction) throws -> [String]? {
    guard let number = try numbers(direction).last else { return nil }
    let step = try read(try file(number, direction))
    let inverse = try store.undo(step)
    try remove(number, direction)
    _ = try put(inverse, direction.opposite)
    return step.tableNames
  }

  /// Says whether ``takeBack(_:)`` would succeed, and with what, without doing it.
  package func rehearse(_ direction: Direction) throws -> [String]? {
    guard let number = try numbers(direction).last else { return nil }
    let step = try read(try file(number, direction))
    try store.rehearse { transaction in try transaction.undo(step) }
    return step.tableNames
  }

  private func file(_ number: Int, _ direction: Direction) throws(StoreError) -> String {
    try "\(store.folder.undoFolder)/\(direction.rawValue)-\(number).plist"
  }

  private func numbers(_ direction: Direction) throws -> [Int] {
    let folder = try store.folder.undoFolder
    let names = try disk.status(folder) == nil ? [] : try disk.list(folder)
    return names.compactMap { name in
      let parts = name.split(whereSeparator: { $0 == "-" || $0 == "." })
      guard parts.count == 3, parts[0] == direction.rawValue, let number = Int(parts[1]) else { return nil }
      // Others are none of ours, and the next number must not overflow.
      return (1..<Self.numberLimit).contains(number) ? number : nil
    }.sorted()
  }

  private func removeAll(_ direction: Direction) throws {
    for number in try numbers(direction) { try remove(number, direction) }
  }

  private func remove(_ number: Int, _ direction: Direction) throws {
    try disk.remove(file(number, direction))
  }

  private func put(_ step: UndoStep, _ direction: Direction) throws -> Bool {
    guard step.recordBytes <= longestStep else { return false }
    let bytes = try PlistWriter.document(step.plist, limits: UndoStep.limits(store.options.limits))
    let number = (try numbers(direction).last ?? 0) + 1
    try disk.createFolder(store.folder.undoFolder)
    try disk.replace(file(number, direction), with: bytes)
    return true
  }

  private func read(_ file: String) throws -> UndoStep {
    let bytes = try disk.read(file).bytes
    do throws(PlistError) {
      if let step = UndoStep(
        try PlistParser.parse(bytes, limits: UndoStep.limits(store.options.limits)))
      {
        return step
      }
    } catch {
      throw StoreError(error, file: file, table: nil)
    }
    throw StoreError(StoreError.damagedTable, "this is no undo step; remove the file", file: file)
  }
}
