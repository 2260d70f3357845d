import FileDB
import Foundation
import TestSupport
import Testing

/// What the shells offer on the Tab key.
@Suite struct CompletionTests {
  private func withItems(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder.appendingPathComponent("my store"))
      let todo = try store.table("todo")
      try todo.add(contentsOf: [
        ["title": "Milk", "litres": 2], ["title": "Bread", "a.b": true], ["note": "Salt"],
      ])
      try store.table("my lists").add(["name": "one"])
      try store.table("$(touch HACKED)").add(["name": "one"])
      try store.checkInvariants()
      try store.close()
      try Data("title\n".utf8).write(to: folder.appendingPathComponent("data file.csv"))
      try body(folder)
    }
  }

  /// What `filedb` answers where the last word is being typed, without notes.
  private func answer(_ words: [String], in folder: URL) throws -> [String] {
    let result = try filedb(["---complete", "zsh"] + words, in: folder.appendingPathComponent("my store"))
    #expect(result.status == 0 && result.error.isEmpty, "\(result)")
    let lines = result.output.split(separator: "\n").map { String($0.split(separator: "\t")[0]) }
    return lines.first == "words" ? Array(lines.dropFirst()) : lines
  }

  private static let lines: [(words: [String], answer: [String])] = [
    (["sho"], ["show"]), (["sh"], ["show", "ship", "shared"]), (["help", "dup"], ["duplicate"]),
    (["show", "--gr"], ["--group"]),
    (["show", ""], ["$(touch HACKED)", "my lists", "todo"]), (["show", "m"], ["my lists"]),
    (["show", "todo", "--format", "js"], ["json"]), (["show", "todo", "--format=nd"], ["--format=ndjson"]),
    (["show", "todo", "--fields", "ti"], ["title"]),
    (["show", "todo", "--fields", "title,"], ["title,a\\.b", "title,litres", "title,note"]),
    (["sort", "todo", "-l"], []), (["sort", "todo", "title,-l"], ["title,-litres"]),
    (["get", "todo", ""], ["1", "2", "3"]), (["get", "todo", "1", "t"], ["title"]),
    (["get", "./todo.plist", "1", "t"], ["title"]), (["get", "todo", "1", "title", ""], []),
    (["move", "todo", "1", "--after", ""], ["1", "2", "3"]), (["delete", "todo", "1", "3"], ["3"]),
    (["set", "todo", "1", "ti"], ["title="]), (["add", "todo", "litres:fl"], ["litres:float="]),
    (["unset", "todo", "1", "no"], ["note"]), (["--store", "."], ["folders"]),
    (["--store", "show", "sh"], ["show", "ship", "shared"]),
    (["--store", "../my store", "get", "todo", "2"], ["2"]), (["import", ""], ["files"]),
    (["import", "x.csv", "to"], ["todo"]), (["export", "todo", ""], ["files"]),
    (["diff", "to"], ["todo"]), (["diff", "../x"], ["files"]), (["show", "a/b"], ["files"]),
    (["merge", ""], ["files"]), (["conflicts", "list", "to"], ["todo"]),
    (["conflicts", "take", "th"], ["theirs"]),
    (["ship", "install", ""], ["folders"]), (["copy", ""], ["folders"]), (["shared", "jo"], ["join"]),
    (["show", "todo", "--limit", "3", "--no-i"], ["--no-id"]),
    (["show", "todo", "--zz"], []),
    (["show", "nothing", "--fields", ""], []), (["repair", "--keep", "b"], ["both"]),
  ]

  @Test func wordsAreOffered() throws {
    try withItems { folder in
      for (words, expected) in Self.lines {
        #expect(try answer(words, in: folder) == expected, "\(words)")
      }
      // Nothing is made if nothing was.
      try filedb("---complete", "zsh", "show", "", in: folder)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
  }

  @Test func idsComeWithWhatTheyAre() throws {
    try withItems { folder in
      let result = try filedb("---complete", "fish", "--store", "my store", "get", "todo", "", in: folder)
      #expect(result.output == "words\n1\tMilk\n2\tBread\n3\tSalt\n")
    }
  }

  /// A new argument must have a content that completion knows, or be among those that take anything.
  @Test func everyArgumentIsCompletedOrTakesAnything() throws {
    let anything = [
      "n", "c", "name", "name=value", "select", "version", "a=integer,b=float", "value", "regex", "new-name",
      "declared", "words", "address", "seconds", "pattern", "zone",
    ]
    let dump = try filedb("--experimental-dump-help", in: packageRoot).output
    let root = try #require(try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any])
    let commands = try #require((root["command"] as? [String: Any])?["subcommands"] as? [[String: Any]])
    var tried: Set<String> = []
    try withItems { folder in
      for command in commands where command["shouldDisplay"] as? Bool == true {
        let name = command["commandName"] as? String ?? ""
        var before = [name]
        for argument in command["arguments"] as? [[String: Any]] ?? [] {
          let value = argument["valueName"] as? String ?? ""
          let option = (argument["preferredName"] as? [String: Any])?["name"] as? String
          if argument["kind"] as? String == "flag" { continue }
          if anything.contains(value) {
            if option == nil { before.append("1") }
            continue
          }
          if name == "import" || name == "export", option == "table" { continue }
          if option == "title" { continue }
          // Completion tells arguments apart by the names of their values, and these commands by their own.
          let isNew = tried.insert("\(value) \(option == nil)").inserted
          if !isNew, !["add", "diff"].contains(name) {
            if option == nil { before.append(value == "table" ? "todo" : "1") }
            continue
          }
          let words = option.map { before + ["--\($0)", ""] } ?? before + [""]
          let offered = try answer(words, in: folder)
          #expect(!offered.isEmpty, "\(name) \(option ?? "") \(value)")
          if option == nil { before.append(value == "table" ? "todo" : "1") }
        }
      }
    }
  }

  // MARK: - In real shells

  /// Keys, and what the shell runs.
  private static let keys: [(keys: String, prints: String)] = [
    ("filedb --store my\t get tod\t 1 ti\t", "Milk"), ("filedb --store my\t get my\t 1 na\t", "one"),
    ("filedb --store my\t count --where 'title == \"Milk\"' tod\t", "1"),
    ("cat data\t | tr t T; filedb --store my\t get $\t", "TiTle"),
    ("filedb --store my\t set todo 2 titl\tRye; filedb --store my\\ store get todo 2 title", "Rye"),
  ]

  private func filedbScript(_ shell: String, in folder: URL) throws -> String {
    let script = folder.appendingPathComponent("complete.\(shell)")
    try Data(filedb("--generate-completion-script", shell, in: folder).output.utf8).write(to: script)
    return script.path
  }

  /// Types lines on a terminal of a shell, each when the shell is ready for it.
  /// - Parameter number: the number of the next command, in the shell's prompt. Offering words repeats the prompt.
  private func type(
    _ lines: [String], into command: String, number: String, in folder: URL
  ) throws -> String {
    let path = program("filedb").deletingLastPathComponent().path
    let shell = try LiveProgram(
      onTerminal: command, in: folder,
      environment: [
        "PATH": "\(path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")",
        "HOME": folder.path, "TERM": "dumb", "PS1": "<\(number)> ",
      ])
    defer { shell.kill() }
    var printed = ""
    for (number, line) in lines.enumerated() {
      printed += try shell.waits(for: "<\(number + 1)> ")
      shell.type(line + "\n")
    }
    return try printed + shell.waits(for: "<\(lines.count + 1)> ")
  }

  @Test(.enabled(if: hasScript && hasBash, "needs bash and script")) func bashCompletes() throws {
    try withItems { folder in
      let script = try filedbScript("bash", in: folder)
      let printed = try type(
        [". \(script)"] + Self.keys.map(\.keys), into: "bash --norc -i", number: "\\#", in: folder)
      let lines = printed.split(whereSeparator: \.isNewline).map(String.init)
      for (keys, expected) in Self.keys { #expect(lines.contains(expected), "\(keys): \(printed)") }
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("HACKED").path))
    }
  }

  @Test(.enabled(if: hasScript && isThere("zsh"), "needs zsh and script")) func zshCompletes() throws {
    try withItems { folder in
      let script = try filedbScript("zsh", in: folder)
      let setup = "autoload -Uz compinit; compinit -D; . \(script)"
      let printed = try type([setup] + Self.keys.map(\.keys), into: "zsh -f -i", number: "%h", in: folder)
      for (keys, expected) in Self.keys {
        #expect(printed.contains("\n\(expected)\n"), "\(keys): \(printed.debugDescription)")
      }
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("HACKED").path))
    }
  }

  @Test(.enabled(if: isThere("fish"), "needs fish")) func fishCompletes() throws {
    try withItems { folder in
      let script = try filedbScript("fish", in: folder)
      let lines = [
        ("filedb --store my", "my store/"), ("filedb --store my\\\\ store get tod", "todo"),
        ("filedb --store my\\\\ store get todo 1 ti", "title"), ("filedb import da", "data file.csv"),
        ("filedb --store my\\\\ store get todo ", "1\tMilk"),
      ]
      for (line, expected) in lines {
        let result = try shell(
          "HOME='\(folder.path)' fish -c \"source '\(script)'; complete -C '\(line)'\"", in: folder)
        #expect(result.output.split(separator: "\n").contains(Substring(expected)), "\(line): \(result)")
      }
    }
  }

  @Test func unknownShellIsAnError() throws {
    let result = try filedb("--generate-completion-script", "csh", in: packageRoot)
    #expect(result.status == 64 && result.error.contains("not for 'csh'"))
  }
}

private func isThere(_ program: String) -> Bool {
  (try? shell("command -v \(program)", in: packageRoot))?.status == 0
}
