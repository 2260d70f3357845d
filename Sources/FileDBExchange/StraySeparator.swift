import FileDB

/// What the first line of a file says about the separator of its fields, although a comma was expected.
package enum StraySeparator: Equatable {
  /// The line is `sep=;`, as Excel writes it. The header comes after it.
  case declared(Character)
  /// The line has this character and no comma, so that it would be a single field.
  case alone(Character)
  /// The line has this character besides commas.
  case besideCommas(Character)
  /// The whole line is in quotes, with this character in it.
  case inQuotes(Character)

  /// - Returns: `nil` if nothing looks suspicious, or the line cannot be read.
  package init?(in source: ImportSource, as format: DelimitedFormat) {
    guard let line = try? Self.firstLine(of: source, format) else { return nil }
    if line.count == 5, line.starts(with: "sep=".utf8), line[4] < 0x80 {
      self = .declared(Character(Unicode.Scalar(line[4])))
      return
    }
    guard format.separator == UInt8(ascii: ",") else { return nil }
    let plain = Self.withoutQuoted(line, quote: format.quote)
    let isAlone = !plain.contains(UInt8(ascii: ","))
    // If there are commas, too, a bar may be part of a name.
    let candidates: [Character] = isAlone ? [";", "\t", "|"] : [";", "\t"]
    func first(in bytes: [UInt8], of characters: [Character]) -> Character? {
      characters.first { $0.asciiValue.map(bytes.contains) ?? false }
    }
    if let found = first(in: plain, of: candidates) {
      self = isAlone ? .alone(found) : .besideCommas(found)
    } else if plain.isEmpty, let found = first(in: line, of: candidates + [","]) {
      self = .inQuotes(found)
    } else {
      return nil
    }
  }

  /// The first line that is not left out, as UTF-8; at most so much of it that it can still be a header.
  private static func firstLine(of source: ImportSource, _ format: DelimitedFormat) throws -> [UInt8] {
    var text = TextBytes(TextDecoder(format.encoding, of: source.name, nextPiece: try source.open()))
    var (line, number): ([UInt8], Int) = ([], 0)
    while line.count < 1 << 16, let byte = try text.take() {
      guard byte == 0x0A || byte == 0x0D else {
        line.append(byte)
        continue
      }
      if try byte == 0x0D && text.peek() == 0x0A { _ = try text.take() }
      number += 1
      if number > format.skippedLines, !line.isEmpty { break }
      line = []
    }
    return line
  }

  private static func withoutQuoted(_ line: [UInt8], quote: UInt8?) -> [UInt8] {
    var (isQuoted, plain) = (false, [UInt8]())
    for byte in line {
      if byte == quote { isQuoted.toggle() } else if !isQuoted { plain.append(byte) }
    }
    return plain
  }
}
