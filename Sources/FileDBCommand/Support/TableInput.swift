import FileDB
import FileDBEssentials
import FileDBExchange

extension InputFile {
  /// False for a pipe, which can be read only once, and only at the pace of its writer.
  static func isRegular(_ url: URL) -> Bool {
    let path = url.resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }
}

extension TableSnapshot {
  /// The table in a file that does not belong to a store: any file, a pipe, or, for `-`, standard input.
  init(argument: String) throws {
    let url = URL(fileURLWithPath: argument)
    if argument == "-" {
      try self.init(bytes: InputFile.standardInput.readAll(), name: "standard input")
    } else if InputFile.isRegular(url) {
      try self.init(contentsOf: url)
    } else {
      try self.init(bytes: InputFile(url).readAll(), name: argument)
    }
  }
}
