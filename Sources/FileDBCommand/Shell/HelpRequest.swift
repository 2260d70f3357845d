import ArgumentParser
import FileDB
import FileDBEssentials

/// Requests from installers and shells.
enum HelpRequest {
  /// Answers such a request.
  /// - Returns: false if this is not such a request.
  static func answer(_ words: [String]) throws -> Bool {
    switch (words.first, words.count) {
    case (nil, _), ("--help", 1), ("-h", 1), ("help", 1): Terminal.print(Screen.text)
    case (CompletionScript.request, _): try CompletionScript.answer(Array(words.dropFirst()))
    case ("--generate-completion-script", 2):
      guard let script = CompletionScript(rawValue: words[1]) else {
        throw ValidationError("There are completions for bash, zsh and fish, not for '\(words[1])'.")
      }
      Terminal.print(script.text)
    case ("--generate-manual", 2):
      try Manual(.all()).write(to: URL(fileURLWithPath: words[1], isDirectory: true))
    default: return false
    }
    return true
  }
}
