import Foundation
import TestSupport
import Testing

/// The tutorial's program compiles after each step, and the last step is the example TodoList.
@Suite(.enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"))
struct TutorialTests {
  private static let folder = Article.folder.appendingPathComponent("Tutorial")

  /// The files of the program after each step that changes one of them.
  private func programs() throws -> [[String: String]] {
    var files: [String: String] = [:]
    var programs: [[String: String]] = []
    for chapter in ["KeepAList", "ChangeAList", "FollowAList"] {
      let page = Self.folder.appendingPathComponent("\(chapter).tutorial")
      let text = try String(contentsOf: page, encoding: .utf8)
      for code in text.matches(of: #/@Code\(name: "([^"]+)", file: ([^)]+)\)/#) {
        let resource = Self.folder.appendingPathComponent("Resources/\(code.2)")
        files[String(code.1)] = try String(contentsOf: resource, encoding: .utf8)
        programs.append(files)
      }
    }
    return programs
  }

  @Test func programCompilesAfterEachStep() throws {
    let programs = try programs().map {
      $0.filter { $0.key.hasSuffix(".swift") && $0.key != "Package.swift" }
    }
    // The tutorial shows the screen, the model and the change before the program that uses them.
    let whole = Set(programs).filter { program in
      program["ListModel.swift"] == nil || program["TodoList.swift"]?.contains("ListModel(") == true
    }
    #expect(whole.count >= 10)
    for program in whole where !program.isEmpty {
      try withTemporaryFolder { folder in
        let files = program.keys.map { folder.appendingPathComponent($0) }
        for file in files { try Data(program[file.lastPathComponent]!.utf8).write(to: file) }
        let options = ["-typecheck", "-parse-as-library", "-warnings-as-errors"]
        let (status, output) = try Compiler.run(options + files.map(\.path))
        #expect(status == 0, "\(program.keys.sorted())\n\(output)")
      }
    }
  }

  @Test func lastStepIsTheExample() throws {
    let last = try #require(try programs().last)
    let example = packageRoot.appendingPathComponent("Examples/TodoList")
    for name in try FileManager.default.contentsOfDirectory(atPath: example.path) {
      #expect(
        try last[name] == String(contentsOf: example.appendingPathComponent(name), encoding: .utf8), "\(name)"
      )
    }
  }

  @Test func packageFileIsThatOfGettingStarted() throws {
    let package = try #require(try programs().last?["Package.swift"])
    let article = Article.folder.appendingPathComponent("GettingStarted.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix(".package(") || line.hasPrefix(".product(") {
      #expect(package.contains(line))
    }
  }
}
