import CFileDBPages
import FileDBEssentials

extension Site {
  static let pageRoutes: [Route] = [
    .get("") { _, _ in try .index },
    .get("pages", "*") { _, request in try .file(request.path[1]) },
    .get("pages", "*", "*") { _, request in try .file(request.path[2], of: request.path[1]) },
    .get("api", "events") { _, _ in
      Response(headers: ["Content-Type": "text/event-stream; charset=utf-8"], body: .events)
    },
  ]
}

extension Response {
  /// The first page, which loads all style sheets and modules. It refers to them by paths that contain the version, so
  /// that the browser may cache them.
  fileprivate static var index: Response {
    get throws {
      var response = try file("index.html")
      guard case .bytes(let bytes) = response.body else { return response }
      var text = String(decoding: bytes, as: UTF8.self).replacing(##/<!--.*-->\n/##, with: PageFile.links)
      if let version = PageFile.version { text = text.replacing("\"/pages/", with: "\"/pages/\(version)/") }
      response.body = .bytes(Array(text.utf8))
      return response
    }
  }

  /// A file that never changes under this version.
  fileprivate static func file(_ name: String, of version: String) throws -> Response {
    guard version == PageFile.version else { throw RequestError.noSuchPage }
    var response = try file(name)
    response.headers.add(name: "Cache-Control", value: "private, max-age=31536000, immutable")
    return response
  }

  fileprivate static func file(_ name: String) throws -> Response {
    let types = ["html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]
    guard let bytes = PageFile.bytes(name), let type = types[String(name.split(separator: ".").last ?? "")]
    else {
      throw RequestError.noSuchPage
    }
    return Response(headers: ["Content-Type": "\(type); charset=utf-8"], body: .bytes(bytes))
  }
}

/// The files of `Pages`. They are built into the program.
enum PageFile {
  /// The version for this start of the server: another program may use the port next. `nil` if the files may change.
  static let version: String? = {
    #if DEBUG
      if folderInWork != nil { return nil }
    #endif
    return String(UInt64.random(in: 0 ... .max), radix: 36)
  }()

  static var names: [String] { Array(places.keys) }

  /// The elements of the first page for the style sheets, and for the modules that it does not begin with.
  static let links: String = {
    let links = names.sorted().compactMap { name -> String? in
      if name.hasSuffix(".css") { return #"<link rel="stylesheet" href="/pages/\#(name)">"# }
      guard name.hasSuffix(".js"), !["connection.js", "app.js"].contains(name) else { return nil }
      return #"<link rel="modulepreload" href="/pages/\#(name)" fetchpriority="low">"#
    }
    return links.map { $0 + "\n" }.joined()
  }()

  private static let places: [String: Int] = {
    var places: [String: Int] = [:]
    while let name = filedb_page(places.count).name { places[String(cString: name)] = places.count }
    return places
  }()

  static func bytes(_ name: String) -> [UInt8]? {
    #if DEBUG
      if let bytes = bytesInWork(name) { return bytes }
    #endif
    guard let place = places[name], let text = filedb_page(place).text else { return nil }
    return Array(sequence(first: text) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != 0 })
  }

  #if DEBUG
    /// For development of the pages: if $FILEDB_BROWSE_PAGES names their folder, a reload shows the files as they are
    /// there.
    private static let folderInWork = ProcessInfo.processInfo.environment["FILEDB_BROWSE_PAGES"]

    private static func bytesInWork(_ name: String) -> [UInt8]? {
      guard let folder = folderInWork, !name.contains("/") else { return nil }
      return try? Array(Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name)))
    }
  #endif
}
