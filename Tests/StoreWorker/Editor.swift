import FileDB
import Foundation

/// Another program that knows nothing of the store: it adds a record of its own to each table's file, and syncs
/// nothing.
struct Editor {
  let folder: URL
  /// How often it has saved.
  private(set) var saves = 0

  init(folder: URL) { self.folder = folder }

  /// Saves all tables, unless one of them is not there or empty. No commit may be waiting for them in the journal.
  /// - Returns: whether it did.
  mutating func save() throws -> Bool {
    let row = WorkRow(writer: name(saves + 1), key: WorkRow.markKey, sequence: 1, length: 0)
    let files = workTables.map { folder.appendingPathComponent("\($0.text).plist") }
    let texts = files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
      .compactMap { Self.text($0, with: row) }
    guard texts.count == files.count else { return false }
    for (file, text) in zip(files, texts) {
      let draft = file.appendingPathExtension("saving")
      try text.write(to: draft, atomically: false, encoding: .utf8)
      try require(rename(draft.path, file.path) == 0, "\(file.path) cannot be replaced")
    }
    saves += 1
    return true
  }

  /// - Throws: ``Fault`` if one of its records is missing.
  func compare(with sighting: Sighting) throws {
    for table in workTables.indices {
      let marks = sighting.marks(in: table)
      for save in 1..<(saves + 1) {
        try require(marks[name(save)] == 1, "\(workTables[table].text): save \(save) of the editor is lost")
      }
    }
  }

  private func name(_ save: Int) -> String { "editor\(save)" }

  /// A table's text with one more record at the bottom; `nil` if there is none to add it behind.
  private static func text(_ text: String, with row: WorkRow) -> String? {
    let idKey = "<key>wgFileDbSecretId</key>"
    let count = text.components(separatedBy: idKey).count - 1
    guard
      let counter = text.range(
        of: "(?<=<key>autoincrement</key>\n\t<string>)\\d+", options: .regularExpression),
      let id = Int(text[counter]).map({ $0 + 1 })
    else { return nil }
    let record = """
      \t\t<dict>
      \t\t\t<key>key</key><integer>\(row.key)</integer>
      \t\t\t<key>length</key><integer>\(row.length)</integer>
      \t\t\t<key>sequence</key><integer>\(row.sequence)</integer>
      \t\t\t<key>sum</key><string>\(row.sum)</string>
      \t\t\t<key>text</key><string>\(row.text)</string>
      \t\t\t<key>writer</key><string>\(row.writer)</string>
      \t\t\t\(idKey)<string>\(id)</string>
      \t\t</dict>
      """
    let (dataEnd, indexEnd) = ("\n\t</array>\n\t<key>index</key>", "\n\t</dict>\n</dict>\n</plist>")
    guard text.contains(dataEnd), text.contains(indexEnd) else { return nil }
    return text.replacingCharacters(in: counter, with: "\(id)")
      .replacingOccurrences(of: dataEnd, with: "\n\(record)\(dataEnd)")
      .replacingOccurrences(of: indexEnd, with: "\n\t\t<key>\(id)</key><string>\(count)</string>\(indexEnd)")
  }
}
