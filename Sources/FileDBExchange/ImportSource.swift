import FileDB
import FileDBEssentials
import FileDBPlist

/// The bytes of an import. FileDB reads them piece by piece, and twice if it detects types first.
public struct ImportSource {
  /// The name of the source in errors.
  public let name: String
  /// Starts from the beginning. The closure that it returns gives the next bytes, `nil` at the end.
  let open: () throws -> () throws -> [UInt8]?
  package var limits = TextLimits()

  /// The file at `url`.
  /// - Parameter name: the name of the source in errors; by default the file's path.
  public init(_ url: URL, name: String? = nil) {
    self.name = name ?? url.path
    open = {
      let file = try InputFile(url)
      return { try file.read() }
    }
  }

  /// Bytes in memory.
  public init(_ bytes: [UInt8], name: String) {
    self.name = name
    open = {
      var rest: [UInt8]? = bytes
      return {
        defer { rest = nil }
        return rest
      }
    }
  }

  /// Standard input. It can be read only once; the result of ``spooled()`` can be read again.
  public static var standardInput: ImportSource {
    ImportSource(name: "standard input") {
      let file = InputFile.standardInput
      return { try file.read() }
    }
  }

  /// Bytes from anywhere.
  /// - Parameters:
  ///   - name: the name of the source in errors.
  ///   - open: starts from the beginning. It returns a closure that returns the next bytes, in pieces of any size, and
  ///     `nil` at the end.
  public init(name: String, open: @escaping () throws -> () throws -> [UInt8]?) {
    self.name = name
    self.open = open
  }

  /// Returns the same bytes, read to the end now and kept in a temporary file.
  ///
  /// Use it for a source that can be read only once. Use it also for a source that may be slow, before a transaction
  /// that would make other writers wait.
  /// - Throws: ``StoreError/Code/inputOutput``, also if the temporary folder has no room.
  public func spooled() throws -> ImportSource {
    let file = try SpoolFile(try open())
    return ImportSource(name: name) {
      var offset = 0
      return {
        let piece = try file.read(at: offset)
        offset += piece.count
        return piece.isEmpty ? nil : piece
      }
    }
  }

  /// The first `count` bytes after a byte order mark and white space, as UTF-8; fewer if the file is shorter.
  package func beginning(_ count: Int) throws -> [UInt8] {
    var text = TextBytes(TextDecoder(.utf8, of: nil, nextPiece: try open()))
    while let next = try text.peek(), isXMLSpace(next) { _ = try text.take() }
    var bytes: [UInt8] = []
    while bytes.count < count, let next = try text.take() { bytes.append(next) }
    return bytes
  }

  func readAll() throws -> [UInt8] {
    let nextPiece = try open()
    var bytes: [UInt8] = []
    while let piece = try nextPiece() {
      bytes += piece
      guard bytes.count <= limits.fileBytes else {
        throw StoreError(PlistError(.fileTooLarge(limit: limits.fileBytes)), file: name, table: nil)
      }
    }
    return bytes
  }
}
