import ArgumentParser
import FileDB
import FileDBEssentials

/// What installers and shells ask of the program.
enum HelpRequest {
  /// Answers such a request.
  /// - Returns: false for all other words.
  static func answer(_ words: [String]) throws -> Bool {
    switch (words.first, words.count) {
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
