import FileDB
import FileDBEssentials
import FileDBExchange

extension InputFile {
  /// False for a pipe, which can be read only once and at its writer's pace.
  static func isRegular(_ url: URL) -> Bool {
    let path = url.resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }
}

extension TableSnapshot {
  /// The table of a file that belongs to no store: any file, a pipe, or, for `-`, standard input.
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
