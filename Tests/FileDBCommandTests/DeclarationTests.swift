import Testing

@testable import ArgumentParser
@testable import FileDBCommand

@Suite struct DeclarationTests {
  /// In a debug build, ArgumentParser checks this at each start. The tests start a release build.
  @Test func argumentsOfAllCommandsAreDeclaredWithoutMistakes() throws {
    var (rest, checked): ([any ParsableCommand.Type], Int) = ([FileDBTool.self], 0)
    while let command = rest.popLast() {
      try command._validate(parent: nil)
      rest += command.configuration.subcommands
      checked += 1
    }
    #expect(checked > 43)
  }
}
