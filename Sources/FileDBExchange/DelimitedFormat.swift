/// The layout of delimited text. The default is CSV.
public struct DelimitedFormat: Sendable {
  /// How characters are encoded as bytes.
  public enum Encoding: String, Sendable, CaseIterable {
    /// UTF-8. A text with the byte order mark of UTF-16 is read as UTF-16.
    case utf8 = "utf-8"
    /// UTF-8 with a byte order mark, by which Excel recognizes it. A reader treats it as ``utf8``.
    case utf8WithMark = "utf-8-bom"
    /// UTF-16. A reader follows the byte order mark. Without a mark, the bytes tell the order if there is enough ASCII
    /// among them, and otherwise the text is big-endian. A writer writes little-endian text with a mark.
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    /// ISO 8859-1. Its control characters, the bytes 0x80 to 0x9F, are refused: in text, they are characters of
    /// ``windows1252``.
    case latin1 = "latin-1"
    /// Latin-1 with quotation marks, dashes, the euro sign and others in place of control characters.
    case windows1252 = "windows-1252"
  }

  /// The end of a line in text that is written. A reader accepts both, and a single CR too.
  public enum LineEnd: String, Sendable, CaseIterable {
    case lf
    /// CR and LF, as in RFC 4180.
    case crlf

    var text: String { self == .lf ? "\n" : "\r\n" }
  }

  /// The byte between fields.
  public var separator: UInt8
  /// The byte around a field that contains the separator, a line end, or the quote itself, which is then doubled. If it
  /// is `nil`, fields are never quoted.
  public var quote: UInt8?
  /// How characters are encoded as bytes.
  public var encoding: Encoding
  /// The end of a line in text that is written.
  public var lineEnd = LineEnd.lf
  /// How many lines a reader leaves out at the start, whatever they contain.
  public var skippedLines = 0

  /// A format with this separator, this quote and this encoding.
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

  /// Comma-separated values as in RFC 4180.
  public static let csv = DelimitedFormat(separatorByte: UInt8(ascii: ","))

  /// Tab-separated values.
  public static let tsv = DelimitedFormat(separatorByte: UInt8(ascii: "\t"))

  private init(separatorByte: UInt8) {
    separator = separatorByte
    quote = UInt8(ascii: "\"")
    encoding = .utf8
  }
}
