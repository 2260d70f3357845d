/// A file that an editor, a merge tool or a sync service made of a table's file. It is no table.
package struct StrayFile: Equatable, Sendable {
  /// The file's name.
  package let file: String
  /// What it is, such as "an editor's backup".
  package let kind: String

  /// - Returns: `nil` if a table may have a file of this name.
  package init?(file: String) {
    let name = Array(file.utf8)
    let isPlist = name.hasEnding(".plist")
    let stem = isPlist ? name.dropLast(".plist".utf8.count) : name[...]
    guard let kind = Self.conflict(stem) ?? (isPlist ? nil : Self.backup(stem)) else { return nil }
    (self.file, self.kind) = (file, kind)
  }

  /// What sync services make if two machines have changed a file:
  /// - `todo.sync-conflict-20261101-120000-ABCDEFG.plist`: https://docs.syncthing.net/users/syncing.html
  /// - `todo (Ann's conflicted copy 2026-11-01).plist`: https://help.dropbox.com/organize/conflicted-copy, and without
  ///   the owner's name Nextcloud, ownCloud and OpenCloud
  /// - `todo (SFConflict ann@example.com 2026-11-01-12-00-00).plist`: https://www.seafile.com/en/help/conflicts/
  private static func conflict(_ stem: ArraySlice<UInt8>) -> String? {
    if stem.containsText(".sync-conflict-2") { return "Syncthing's copy of a conflict" }
    guard stem.hasEnding(")") else { return nil }
    if stem.containsText("conflicted copy") { return "a sync service's copy of a conflict" }
    if stem.containsText("(SFConflict ") { return "Seafile's copy of a conflict" }
    if stem.containsText("(Case Conflict") { return "Dropbox's copy of a file whose name differs in case" }
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
    return name.containsText(".plist") ? "a copy" : nil
  }

  package var message: String { "'\(file)' is no table, but \(kind)" }
}

extension Collection<UInt8> {
  /// Compares bytes: for Swift, a mark after a character makes it another character.
  fileprivate func hasEnding(_ text: StaticString) -> Bool {
    count > text.utf8CodeUnitCount
      && suffix(text.utf8CodeUnitCount).elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  fileprivate func containsText(_ text: String) -> Bool {
    var rest = self[...]
    let bytes = Array(text.utf8)
    while rest.count >= bytes.count {
      if rest.starts(with: bytes) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
