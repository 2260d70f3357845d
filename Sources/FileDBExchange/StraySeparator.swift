import FileDB

/// A character in the first line of a file that probably separates its fields, although a comma was expected.
package struct StraySeparator {
  package let character: Character
  /// Whether the line has no comma, so that it would be a single field.
  package let isAlone: Bool

  /// - Returns: `nil` if nothing looks suspicious, or the line cannot be read.
  package init?(in source: ImportSource, as format: DelimitedFormat) {
    guard format.separator == UInt8(ascii: ","), let nextPiece = try? source.open() else { return nil }
    var reader = DelimitedReader(name: source.name, format: format, nextPiece: nextPiece)
    guard let row = try? reader.next() else { return nil }
    isAlone = row.cells.count == 1
    let texts = row.cells.filter { !$0.isQuoted }.map(\.text)
    // If there are commas, too, a bar may be part of a name.
    let candidates: [Character] = isAlone ? [";", "\t", "|"] : [";", "\t"]
    guard let found = candidates.first(where: { candidate in texts.contains { $0.contains(candidate) } })
    else {
      return nil
    }
    character = found
  }

  /// The separator as `--separator` takes it in a shell.
  package var option: String { character == "\t" ? "tab" : "'\(character)'" }
}
