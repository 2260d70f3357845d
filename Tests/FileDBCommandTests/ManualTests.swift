import FileDB
import Foundation
import TestSupport
import Testing

/// Manual pages, the examples in them, and what installs them.
@Suite struct ManualTests {
  private static let hasMan = (try? shell("man --version", in: packageRoot))?.status == 0

  /// The pages by name.
  private func pages() throws -> [String: String] {
    try withTemporaryFolder { folder in
      #expect(try filedb("--generate-manual", folder.path, in: folder).status == 0)
      var pages: [String: String] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        pages[name] = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      }
      return pages
    }
  }

  /// The words of a text, without what lays it out.
  private func words(_ text: String) -> [Substring] {
    text.split { !$0.isLetter && !$0.isNumber }
  }

  @Test(.enabled(if: hasMan, "needs man")) func pagesSayWhatHelpSays() throws {
    try withTemporaryFolder { folder in
      try filedb("--generate-manual", folder.path, in: folder)
      for command in try CommandList.read().names {
        let names = command.split(separator: " ").map(String.init)
        let help = try filedb(["help"] + names, in: folder).output
        let page = try shell("MANWIDTH=200 man -l --encoding=UTF-8 filedb-\(names[0]).1 | col -b", in: folder)
        let known = Set(words(page.output))
        let titles: Set<Substring> = ["OVERVIEW", "USAGE", "ARGUMENTS", "OPTIONS", "EXAMPLES"]
        let missing = words(help).filter { !known.contains($0) && !titles.contains($0) }
        #expect(missing.isEmpty, "\(command): \(missing.prefix(5))\n\(page.output)")
      }
    }
  }

  @Test func everyCommandOrGroupHasPage() throws {
    let pages = try pages()
    let commands = try CommandList.read()
    #expect(Set(pages.keys) == Set(commands.words.map { "filedb-\($0).1" } + ["filedb.1"]))
    for word in commands.words { #expect(pages["filedb.1"]?.contains("filedb\\-\(word)(1)") == true) }
    for command in commands.names {
      let page = try #require(pages["filedb-\(command.prefix { $0 != " " }).1"])
      #expect(
        Self.examples(in: page).contains { $0.contains("filedb") && $0.contains(command) }, "\(command)")
    }
  }

  /// Examples that end otherwise than by 0.
  private static let otherStatus: [String: Int32] = [
    "filedb diff todo old/todo.plist": 1,
    "filedb conflicts take theirs todo 1.title": 1,
    // There is no such database, and the folder follows none.
    "filedb shared sync": 66, "filedb --store here shared sync": 66, "filedb shared status": 66,
    "filedb shared status --format json": 66,
    "filedb --store 'postgres://localhost/app?store=todo' shared compact --older-than 30": 69,
    "filedb shared init postgres://localhost/app todo": 69,
    "filedb shared join 'postgres://localhost/app?store=todo' here": 69,
  ]

  /// The commands that run until somebody ends them.
  private static let endless = ["filedb-watch.1", "filedb-browse.1"]

  @Test func examplesRun() throws {
    try withTemporaryFolder { folder in
      try prepare(folder)
      for (page, text) in try pages() where page != "filedb.1" && !Self.endless.contains(page) {
        let lines = Self.examples(in: text)
        #expect(!lines.isEmpty, "\(page)")
        for line in lines {
          let result = try shell(
            """
            export GIT_CONFIG_GLOBAL=/dev/null EDITOR=true XDG_STATE_HOME='\(folder.path)/state'
            rm -rf ../run; cp -R . ../run; cd ../run; \(line)
            """,
            in: folder.appendingPathComponent("store"))
          #expect(result.status == Self.otherStatus[line] ?? 0, "\(line): \(result)")
        }
      }
    }
  }

  @Test(arguments: endless) func examplesThatRunUntilTheyAreEndedRun(page: String) async throws {
    let folder = try makeTemporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try prepare(folder)
    for line in Self.examples(in: try #require(try pages()[page])) {
      let words = line.split(separator: " ").dropFirst().map(String.init)
      let tool = try RunningTool(words, in: folder.appendingPathComponent("store"), scratch: folder)
      try await tool.waitForError("^C ends")
      tool.interrupt()
      #expect(try await tool.status() == 0, "\(line)")
    }
  }

  private static func examples(in page: String) -> [String] {
    // The first block of lines is the synopsis.
    let blocks = page.split(separator: ".nf\n").dropFirst(2)
    let lines = blocks.flatMap { $0.split(separator: "\n").prefix { $0 != ".fi" } }
    return lines.map { line in
      [("\\-", "-"), ("\\(aq", "'"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\(ga", "`"), ("\\e", "\\")]
        .reduce(String(line)) { $0.replacing($1.0, with: $1.1) }
    }
  }

  /// What the examples need.
  private func prepare(_ folder: URL) throws {
    let setup = """
      export GIT_CONFIG_GLOBAL=/dev/null
      set -e
      mkdir store && cd store && filedb create todo
      for title in Milk Bread Soap; do filedb add todo title="$title" litres:float=2; done
      filedb set todo 1 done:bool=no && filedb undo
      mkdir notes old shipped && filedb --store notes create a
      filedb --store shipped create todo && filedb --store shipped add todo title=Shipped && cp todo.plist old && filedb --store old add todo title=Old
      mkdir mine && filedb --store mine --attach shipped set todo 1 title=Mine
      cp todo.plist base.plist && cp todo.plist ours.plist && cp todo.plist theirs.plist
      printf 'name,price\\nMilk,1.5\\n' >prices.csv
      git init -q && git config user.name Test && git config user.email test@example.com
      git add todo.plist && git commit -q -m base
      """
    let result = try shell(setup, in: folder)
    #expect(result.status == 0, "\(result)")
  }
}

/// `Sources/FileDBProgram/install` and `debian`, with the programs that are built already.
@Suite struct InstallationTests {
  private let programs = program("filedb").deletingLastPathComponent().path

  private func install(_ arguments: String, in folder: URL) throws -> ToolResult {
    let script = packageRoot.appendingPathComponent("Sources/FileDBProgram/install").path
    return try shell("'\(script)' --prefix '\(folder.path)/here' \(arguments)", in: folder)
  }

  private func files(in folder: URL) throws -> Set<String> {
    Set(
      try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
        var isFolder = ObjCBool(false)
        let path = folder.appendingPathComponent($0).path
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
      })
  }

  @Test func installedFilesAreTakenAwayAgain() throws {
    try withTemporaryFolder { folder in
      let here = folder.appendingPathComponent("here")
      let own = here.appendingPathComponent("share/man/man1/other.1")
      try FileManager.default.createDirectory(
        at: own.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: own)
      for _ in 0..<2 {  // The second one replaces the first.
        let result = try install("--programs '\(programs)'", in: folder)
        #expect(result.status == 0, "\(result)")
      }
      let files = try files(in: here)
      for file in [
        "bin/filedb", "bin/filedb-extra", "share/bash-completion/completions/filedb",
        "share/zsh/site-functions/_filedb", "share/fish/vendor_completions.d/filedb.fish",
        "share/man/man1/filedb.1",
        "share/man/man1/filedb-add.1",
      ] { #expect(files.contains(file), "\(file)") }
      let version = try shell("here/bin/filedb --version && here/bin/filedb-extra --version", in: folder)
      #expect(version.status == 0)
      #expect(try install("--uninstall", in: folder).status == 0)
      #expect(try self.files(in: here) == ["share/man/man1/other.1"])
      #expect(!FileManager.default.fileExists(atPath: here.appendingPathComponent("bin").path))
      #expect(try install("--uninstall", in: folder).status == 66)
      #expect(try install("--prefix", in: folder).status == 64)
    }
  }

  @Test(.enabled(if: (try? shell("dpkg-deb --version", in: packageRoot))?.status == 0, "needs dpkg-deb"))
  func debianPackageHasTheFiles() throws {
    try withTemporaryFolder { folder in
      let script = packageRoot.appendingPathComponent("Sources/FileDBProgram/debian").path
      let result = try shell(
        "DPKG_DEB_COMPRESSOR_TYPE=none '\(script)' --programs '\(programs)' .", in: folder)
      #expect(result.status == 0, "\(result)")
      let list = try shell("dpkg-deb --info filedb_*.deb && dpkg-deb --contents filedb_*.deb", in: folder)
        .output
      for words in [
        "Package: filedb", "./usr/bin/filedb-extra", "./usr/share/man/man1/filedb-show.1.gz",
        "./usr/share/bash-completion/completions/filedb", "root/root",
      ] { #expect(list.contains(words), "\(words): \(list)") }
      #expect(!list.contains("share/filedb/"))
    }
  }
}
