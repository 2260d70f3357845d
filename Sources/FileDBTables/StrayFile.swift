/// A file that an editor, a merge tool or a sync service made of a table's file. It is no table.
package struct StrayFile: Equatable, Sendable {
  /// The file's name.
  package let file: String
  /// What it is, such as "an editor's backup".
  package let kind: String
  /// The file of which a sync service made this copy; `nil` for all other files.
  package let original: String?
  /// Whatever the name of such a copy says about the machine that it came from.
  package let machine: String

  /// - Returns: `nil` if a table may have a file of this name.
  package init?(file: String) {
    let name = Array(file.utf8)
    let isPlist = name.hasEnding(".plist")
    let stem = isPlist ? name.dropLast(".plist".utf8.count) : name[...]
    self.file = file
    if let conflict = Self.conflict(stem) {
      let ending = isPlist ? ".plist" : ""
      kind = conflict.kind
      original = conflict.original.map { String(decoding: $0, as: UTF8.self) + ending }
      machine = String(decoding: conflict.machine, as: UTF8.self)
    } else if !isPlist, let kind = Self.backup(stem) {
      (self.kind, original, machine) = (kind, nil, "")
    } else {
      return nil
    }
  }

  private struct Conflict {
    let kind: String
    var original: ArraySlice<UInt8>?
    var machine: ArraySlice<UInt8> = []
  }

  /// What sync services make if two machines have changed a file:
  /// - `todo.sync-conflict-20261101-120000-ABCDEFG.plist`: https://docs.syncthing.net/users/syncing.html
  /// - `todo (Ann's conflicted copy 2026-11-01).plist`: https://help.dropbox.com/organize/conflicted-copy, and without
  ///   the owner's name Nextcloud, ownCloud and OpenCloud
  /// - `todo (SFConflict ann@example.com 2026-11-01-12-00-00).plist`: https://www.seafile.com/en/help/conflicts/
  private static func conflict(_ stem: ArraySlice<UInt8>) -> Conflict? {
    if let start = stem.place(of: ".sync-conflict-2") {
      let device = stem.lastIndex(of: UInt8(ascii: "-")).map { stem[($0 + 1)...] } ?? []
      return Conflict(kind: "Syncthing's copy of a conflict", original: stem[..<start], machine: device)
    }
    guard stem.hasEnding(")") else { return nil }
    if stem.place(of: "(Case Conflict") != nil {
      return Conflict(kind: "Dropbox's copy of a file whose name differs in case")
    }
    if let start = stem.place(of: "conflicted copy") {
      let kind = "a sync service's copy of a conflict"
      guard let parenthesis = stem[..<start].lastIndex(of: UInt8(ascii: "(")) else {
        return Conflict(kind: kind)
      }
      return Conflict(
        kind: kind, original: stem[..<parenthesis].trimmed,
        machine: stem[(parenthesis + 1)..<start].trimmed)
    }
    if let start = stem.place(of: "(SFConflict ") {
      let words = stem[start...].split(separator: UInt8(ascii: " "))
      return Conflict(
        kind: "Seafile's copy of a conflict", original: stem[..<start].trimmed,
        machine: words.count > 2 ? words[1] : [])
    }
    return nil
  }

  /// What programs make before they change a file. A file without `.plist` at its end is hardly a table if it has it
  /// elsewhere.
  private static func backup(_ name: ArraySlice<UInt8>) -> String? {
    // Emacs, nano, gedit and Vim end a backup's name with a tilde.
    if name.hasEnding("~") { return "an editor's backup" }
    if name.first == UInt8(ascii: "#"), name.hasEnding("#") { return "text that was not saved in Emacs" }
    if name.hasEnding(".bak") { return "a backup" }
    if name.hasEnding(".orig") { return "what a merge tool or 'patch' left" }
    if name.hasEnding(".rej") { return "changes that 'patch' did not make" }
    return name.place(of: ".plist") != nil ? "a copy" : nil
  }

  /// The table of which iCloud Drive, Google Drive or a file manager may have made a copy with this name: `todo` for
  /// `todo 2` and for `todo (1)`. People also use such names.
  package static func possibleOriginal(ofTable name: String) -> String? {
    let bytes = Array(name.utf8)
    guard let space = bytes.lastIndex(of: UInt8(ascii: " ")), space > 0 else { return nil }
    var number = bytes[(space + 1)...]
    if number.first == UInt8(ascii: "("), number.last == UInt8(ascii: ")") {
      number = number.dropFirst().dropLast()
    }
    guard (1...3).contains(number.count), number.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    else { return nil }
    return String(decoding: bytes[..<space], as: UTF8.self)
  }

  package var message: String { "'\(file)' is no table, but \(kind)" }
}

extension Collection<UInt8> {
  /// Compares bytes: for Swift, a combining mark after a character makes it another character.
  fileprivate func hasEnding(_ text: StaticString) -> Bool {
    count > text.utf8CodeUnitCount
      && suffix(text.utf8CodeUnitCount).elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension ArraySlice<UInt8> {
  /// Where `text` begins.
  fileprivate func place(of text: StaticString) -> Int? {
    indices.first {
      self[$0...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
  }

  /// Without the spaces at the end.
  fileprivate var trimmed: Self {
    let end = lastIndex { $0 != UInt8(ascii: " ") }
    return end.map { self[...$0] } ?? []
  }
}
