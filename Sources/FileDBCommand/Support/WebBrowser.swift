import FileDBEssentials

/// The person's usual browser.
enum WebBrowser {
  /// Opens a page in it. If there is no browser, the user has the printed address.
  static func open(_ address: String) {
    #if canImport(Darwin)
      let name = "open"
    #else
      // Without a desktop, a text browser would take over this terminal.
      let environment = ProcessInfo.processInfo.environment
      guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
      let name = "xdg-open"
    #endif
    let nothing = FileDBEssentials.open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(nothing) }
    _ = try? ChildProcess(["/usr/bin/env", name, address], input: nothing, output: nothing, error: nothing)
  }
}
