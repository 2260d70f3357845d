import Foundation
import TestSupport
import Testing

@Suite struct DocumentationTests {
  private let readme: String
  private let article: String

  init() throws {
    readme = try String(contentsOf: packageRoot.appendingPathComponent("README.md"), encoding: .utf8)
    let articles = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc")
    article = try String(contentsOf: articles.appendingPathComponent("CommandLine.md"), encoding: .utf8)
  }

  @Test func everyCommandIsInTheArticle() throws {
    let commands = try CommandList.read().names
    #expect(commands.count >= 17)
    for command in commands { #expect(article.contains("`filedb \(command)`"), "\(command)") }
  }

  @Test func everyCommandHasHelp() throws {
    for command in try CommandList.read().names {
      let help = try filedb(["help"] + command.split(separator: " ").map(String.init), in: packageRoot)
      #expect(help.status == 0)
      #expect(help.output.contains("\nEXAMPLES:\n"), "\(command)")
      #expect(help.output.hasPrefix("OVERVIEW: "), "\(command)")
      #expect(help.output.contains("USAGE: filedb \(command)"), "\(command): \(help.output)")
    }
  }

  @Test func sessionPrintsAsShown() throws {
    let block = try #require(article.firstMatch(of: /```console\n((?s).*?)```/)).1
    try withTemporaryFolder { folder in
      for step in block.split(separator: "$ ", omittingEmptySubsequences: true) {
        let lines = step.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        let result = try shell(String(lines[0]), in: folder)
        #expect(result.output + result.error == lines[1], "\(lines[0])")
      }
    }
  }

  @Test func readmeCommandsWork() throws {
    let block = try #require(readme.firstMatch(of: /```sh\n(filedb import (?s).*?)```/)).1
    let lines = block.split(separator: "\n")
    #expect(lines.count == 10)
    try withTemporaryFolder { folder in
      let foods = packageRoot.appendingPathComponent("Examples/foods.csv")
      try FileManager.default.copyItem(at: foods, to: folder.appendingPathComponent("foods.csv"))
      for line in lines {
        let result = try shell(String(line), in: folder)
        #expect(result.status == 0, "\(line): \(result.error)")
      }
    }
  }

  @Test func pictureShowsWhatTheProgramPrints() throws {
    let picture = packageRoot.appendingPathComponent("Sources/FileDBProgram/filedb.svg")
    try withTemporaryFolder { folder in
      let script = packageRoot.appendingPathComponent("Sources/FileDBProgram/picture").path
      let result = try shell("FILEDB=$(command -v filedb) TMPDIR='\(folder.path)' '\(script)'", in: folder)
      #expect(result.status == 0 && result.error == "")
      #expect(
        try result.output == String(contentsOf: picture, encoding: .utf8),
        "run Sources/FileDBProgram/picture again")
    }
  }

  /// Runs the article's lines about other formats on the data that they name.
  @Test(.enabled(if: sharedFolderHas("data/usda-sr28"), "needs ../shared/data/usda-sr28"))
  func importsFindRecords() throws {
    let block = try #require(article.firstMatch(of: /```sh\n(filedb import (?s).*?)```/)).1
    let lines = block.replacing("\\\n", with: "").split(separator: "\n")
    #expect(lines.count == 5)
    try withTemporaryFolder { folder in
      let source = sharedFolder.appendingPathComponent("data/usda-sr28/FOOD_DES.txt")
      try FileManager.default.copyItem(at: source, to: folder.appendingPathComponent("FOOD_DES.txt"))
      try Data("ndb,price\n01001,2.5\n01004,8\n".utf8).write(to: folder.appendingPathComponent("prices.csv"))
      for line in lines {
        let result = try shell(String(line), in: folder)
        #expect(result.status == 0, "\(line): \(result.error)")
        #expect(result.error.contains(/[1-9][0-9]* (records|changed)/), "\(line): \(result.error)")
      }
    }
  }

  @Test func quickstartScriptRuns() throws {
    try withTemporaryFolder { folder in
      let script = packageRoot.appendingPathComponent("Examples/quickstart").path
      let result = try shell("FILEDB=$(command -v filedb) TMPDIR='\(folder.path)' '\(script)'", in: folder)
      #expect(result.status == 0)
      #expect(result.error == "76 records imported into 'food'\n")
      for words in [
        "77  Quince", "44  Butter", "Brown rice, my way", "food: sound", "<key>autoincrement</key>",
      ] {
        #expect(result.output.contains(words), "\(words)")
      }
    }
  }
}
