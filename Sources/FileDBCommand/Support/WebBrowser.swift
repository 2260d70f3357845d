import FileDBEssentials

/// The person's usual browser.
enum WebBrowser {
  /// Opens a page in it. If there is no browser, the user has the printed address.
  static func open(_ address: String) {
    #if canImport(Darwin)
      let words = ["open", address]
      var actions: posix_spawn_file_actions_t?
    #else
      // Without a desktop, a text browser would take over this terminal.
      let environment = ProcessInfo.processInfo.environment
      guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else { return }
      let words = ["xdg-open", address]
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for stream in [STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
    }
    var process = pid_t()
    _ = withCStrings(words) { posix_spawnp(&process, words[0], &actions, nil, $0, environ) }
  }
}
