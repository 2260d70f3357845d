import Foundation

/// What a process hands over to be written, if the system tells.
enum WrittenBytes {
  /// By this process so far.
  /// - Throws: ``LeftOut`` if the system does not tell.
  static func ofProcess() throws -> Int {
    let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("wchar:") }),
      let bytes = line.split(separator: " ").last.flatMap({ Int($0) })
    else { throw LeftOut("the system does not tell how many bytes FileDB writes") }
    return bytes
  }
}
