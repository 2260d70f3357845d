import FileDBExchange
import Foundation

/// The tables of the USDA's food database, release SR28: real data, in delimited text of a shape of its own.
enum USDATables {
  static func files() throws -> [URL] {
    let folder = Places.repository.deletingLastPathComponent().appendingPathComponent("shared/data/usda-sr28")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    guard !names.isEmpty else { throw LeftOut("the tables are not in \(folder.path)") }
    return names.filter { $0.hasSuffix(".txt") }.sorted().map(folder.appendingPathComponent)
  }

  static func table(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

  static func reader(_ file: URL) throws -> DelimitedReader {
    guard let format = DelimitedFormat(separator: "^", quote: "~", encoding: .windows1252) else {
      throw WrongResult("the format")
    }
    return try DelimitedReader(contentsOf: file, format: format)
  }

  /// Names for the columns, which the files do not have.
  static func fields(_ file: URL) throws -> [String] {
    var reader = try reader(file)
    return (0..<(try reader.next()?.fields.count ?? 0)).map { "column\($0)" }
  }

  /// The number of rows, for the check.
  static func rows(_ files: [URL]) throws -> Int {
    try files.reduce(0) { try $0 + Data(contentsOf: $1).count { $0 == UInt8(ascii: "\n") } }
  }
}

/// Where things lie in the repository.
enum Places {
  static let package = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }
  static let repository = package.deletingLastPathComponent().deletingLastPathComponent()
  static let programs = package.appendingPathComponent("Programs")
}
