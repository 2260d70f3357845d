import CFileDBPages
import FileDBEssentials

extension Site {
  static let pageRoutes: [Route] = [
    .get("") { _, _ in try .file("index.html") },
    .get("pages", "*") { _, request in try .file(request.path[1]) },
    .get("api", "events") { _, _ in
      Response(headers: ["Content-Type": "text/event-stream; charset=utf-8"], body: .events)
    },
  ]
}

extension Response {
  fileprivate static func file(_ name: String) throws -> Response {
    let types = ["html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]
    guard let bytes = PageFile.bytes(name), let type = types[String(name.split(separator: ".").last ?? "")]
    else {
      throw RequestError.noSuchPage
    }
    return Response(headers: ["Content-Type": "\(type); charset=utf-8"], body: .bytes(bytes))
  }
}

/// The files of `Pages`, which are part of the program.
enum PageFile {
  static var names: [String] { Array(places.keys) }

  private static let places: [String: Int] = {
    var places: [String: Int] = [:]
    while let name = filedb_page(places.count).name { places[String(cString: name)] = places.count }
    return places
  }()

  static func bytes(_ name: String) -> [UInt8]? {
    #if DEBUG
      if let bytes = bytesInWork(name) { return bytes }
    #endif
    guard let page = places[name].map({ filedb_page($0) }) else { return nil }
    return Array(UnsafeBufferPointer(start: page.bytes, count: page.length))
  }

  #if DEBUG
    /// For work on the pages: where $FILEDB_BROWSE_PAGES names their folder, a reload shows them as they are there.
    private static func bytesInWork(_ name: String) -> [UInt8]? {
      guard let folder = ProcessInfo.processInfo.environment["FILEDB_BROWSE_PAGES"], !name.contains("/")
      else {
        return nil
      }
      return try? Array(Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name)))
    }
  #endif
}
