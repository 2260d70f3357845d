import FileDB
import Foundation

/// The bytes of an import, read piece by piece, and more than once where types are to be found first.
public struct ImportSource {
  /// What errors call it.
  public let name: String
  /// Begins anew, and returns what gives the next bytes, `nil` at the end.
  let open: () throws -> () throws -> [UInt8]?

  /// The file at `url`.
  /// - Parameter name: what errors call it; its path where none is given.
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

  /// Standard input, which can be read only once; ``buffered()`` can be read again.
  public static var standardInput: ImportSource {
    ImportSource(name: "standard input") {
      let file = InputFile.standardInput
      return { try file.read() }
    }
  }

  /// Bytes from anywhere.
  /// - Parameters:
  ///   - name: what errors call it.
  ///   - open: begins anew, and returns what gives the next bytes, however they are cut; `nil` at the end.
  public init(name: String, open: @escaping () throws -> () throws -> [UInt8]?) {
    self.name = name
    self.open = open
  }

  /// The same bytes, held in memory.
  public func buffered() throws -> ImportSource { ImportSource(try readAll(), name: name) }

  func readAll() throws -> [UInt8] {
    let nextPiece = try open()
    var bytes: [UInt8] = []
    while let piece = try nextPiece() { bytes += piece }
    return bytes
  }
}
