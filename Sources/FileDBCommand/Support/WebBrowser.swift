import FileDBEssentials

/// The user's browser.
enum WebBrowser {
  /// Opens an address in it. No argument of a program holds the address, because everybody on the machine can see those.
  /// - Parameter address: of letters, digits, `%` and punctuation that means nothing in HTML.
  /// - Returns: the page that leads to the address; remove it when the address is of no use any more. `nil` if there is
  ///   no browser. The user then has the printed address.
  static func open(_ address: String) -> LeadingPage? {
    let environment = ProcessInfo.processInfo.environment
    #if canImport(Darwin)
      let usual = "open"
    #else
      // Without a desktop, a text browser would take over this terminal.
      guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return nil }
      let usual = "xdg-open"
    #endif
    let program = environment["BROWSER"].flatMap { $0.isEmpty ? nil : $0 } ?? usual
    guard let page = LeadingPage(to: address) else { return nil }
    let nothing = FileDBEssentials.open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nothing) }
    _ = try? ChildProcess(
      ["/usr/bin/env", program, page.path], input: nothing, output: nothing, error: nothing)
    return page
  }
}

/// A page in a file that nobody but the user can read. A browser that opens it goes on to an address.
struct LeadingPage {
  private let folder: String
  var path: String { folder + "/open.html" }

  /// - Returns: `nil` if there is no space for it.
  fileprivate init?(to address: String) {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-browse.XXXXXX").path
    var template = Array(place.utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let html = Array(
      """
      <!doctype html>
      <meta charset="utf-8">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=\(address)">
      <title>filedb browse</title>
      <p><a href="\(address)">Go on to the store</a></p>

      """.utf8)
    let descriptor = FileDBEssentials.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard descriptor >= 0, write(descriptor, html, html.count) == html.count else {
      remove()
      return nil
    }
  }

  func remove() {
    unlink(path)
    rmdir(folder)
  }
}
