/// How delimited text is laid out: CSV unless told otherwise.
public struct DelimitedFormat: Sendable {
  public enum Encoding: String, Sendable, CaseIterable {
    /// If the text has the byte order mark of UTF-16, it is read as UTF-16.
    case utf8 = "utf-8"
    /// When reading, the byte order mark decides; without one, the text is big-endian. Text is written little-endian
    /// with a mark.
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    /// ISO 8859-1, in which every byte is a character.
    case latin1 = "latin-1"
  }

  /// What ends a line that is written. A reader accepts both, and CR too.
  public enum LineEnd: String, Sendable, CaseIterable {
    case lf
    /// As RFC 4180 has it.
    case crlf

    var text: String { self == .lf ? "\n" : "\r\n" }
  }

  /// The byte between fields.
  public var separator: UInt8
  /// The byte around a field that contains the separator, a line end, or the quote itself, which is then doubled; `nil`
  /// for none.
  public var quote: UInt8?
  public var encoding: Encoding
  public var lineEnd = LineEnd.lf

  /// - Returns: `nil` if separator and quote are the same, or one of them is a line end or not an ASCII character.
  public init?(
    separator: Character = ",", quote: Character? = "\"", encoding: Encoding = .utf8
  ) {
    guard let separatorByte = separator.asciiValue, separatorByte != 0x0A, separatorByte != 0x0D else {
      return nil
    }
    self.separator = separatorByte
    self.encoding = encoding
    guard let quote else {
      self.quote = nil
      return
    }
    guard let quoteByte = quote.asciiValue, quoteByte != 0x0A, quoteByte != 0x0D, quoteByte != separatorByte
    else {
      return nil
    }
    self.quote = quoteByte
  }

  /// Comma-separated values as RFC 4180 has them.
  public static let csv = DelimitedFormat(separatorByte: UInt8(ascii: ","))

  /// Tab-separated values.
  public static let tsv = DelimitedFormat(separatorByte: UInt8(ascii: "\t"))

  private init(separatorByte: UInt8) {
    separator = separatorByte
    quote = UInt8(ascii: "\"")
    encoding = .utf8
  }
}
