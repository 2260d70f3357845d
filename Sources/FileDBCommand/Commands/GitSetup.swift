import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

struct GitSetup: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Make git merge and compare the tables of a store record by record.",
    discussion: """
      Adds a line to .gitattributes in the store's folder, which you commit, and settings to the repository's own \
      configuration. It also installs a pre-commit hook that runs 'filedb git check', unless there is another hook. \
      Settings and hooks do not come with a clone, so run this command once in each clone. Other lines and settings \
      stay as they are.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @Argument(help: ArgumentHelp("The store's folder; by default that of --store.", valueName: "dir"))
  var folder: String?
  @Flag(help: "Do everything except write.") var dryRun = false

  /// Only the folder itself: the folders in it may contain other kinds of property lists.
  private static let attributes = "/*.plist merge=filedb diff=filedb"

  func run() throws {
    let url = try folder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? existingStore().url
    guard FileInfo.isFolder(url) else {
      throw StoreError(.fileNotFound, "there is no such folder", file: url.path)
    }
    let git = Git(folder: url)
    let place = try git.run("rev-parse", "--is-inside-work-tree")
    guard place.output == "true" else {
      let reason = place.error.isEmpty ? "" : " (\(place.error))"
      throw StoreError(
        .fileNotFound, "this folder is not in a git repository; 'git init' makes one\(reason)",
        file: url.path)
    }
    try addAttributes(to: url.appendingPathComponent(".gitattributes"))
    for (key, value) in Self.settings { try set(key, to: value, in: git) }
    try addHook(in: git)
    if dryRun { Terminal.note("dry run: nothing was written") }
  }

  private static var settings: [(key: String, value: String)] {
    [
      ("merge.filedb.name", "FileDB, record by record"),
      ("merge.filedb.driver", "\(program) git merge -- %O %A %B %P"),
      ("merge.filedb.recursive", "filedb-base"),
      ("merge.filedb-base.name", "FileDB, the common version of branches that merged each other"),
      ("merge.filedb-base.driver", "\(program) git merge --as-base -- %O %A %B %P"),
      ("diff.filedb.textconv", "\(program) git textconv"),
      ("diff.filedb.xfuncname", "^(record .*)$"),
    ]
  }

  /// How git's shell finds this program: by name if it was started like that, because then it is on the path.
  private static var program: String {
    let name = CommandLine.arguments[0]
    guard name.has("/") else { return name }
    let path = URL(fileURLWithPath: name).standardizedFileURL.path
    return ShellText.quoted(path)
  }

  private func addAttributes(to file: URL) throws {
    let isThere = FileManager.default.fileExists(atPath: file.path)
    let old = isThere ? try String(decoding: InputFile(file).readAll(), as: UTF8.self) : ""
    if old.split(whereSeparator: \.isNewline).contains(where: { $0 == Self.attributes }) {
      return say("\(file.lastPathComponent): the line is there already")
    }
    let separator = old.isEmpty || old.hasSuffix("\n") ? "" : "\n"
    if !dryRun {
      do {
        try Data((old + separator + Self.attributes + "\n").utf8).write(to: file, options: .atomic)
      } catch {
        throw StoreError(
          .inputOutput, "the attributes cannot be written: \(error.systemReason)", file: file.path)
      }
    }
    say("\(file.lastPathComponent): added '\(Self.attributes)'")
  }

  private func set(_ key: String, to value: String, in git: Git) throws {
    let old = try git.run("config", "--local", "--get-all", key)
    if old.output == value { return say("git config: \(key) is set already") }
    if !dryRun {
      let result = try git.run("config", "--local", "--replace-all", key, value)
      guard result.status == 0 else {
        throw StoreError(
          .inputOutput, "git config could not set \(key): \(result.error)",
          file: git.folder.path)
      }
    }
    say("git config: set \(key) to '\(value)'" + (old.output.isEmpty ? "" : ", it was '\(old.output)'"))
  }

  private func addHook(in git: Git) throws {
    let hook = PreCommitHook(git: git, program: Self.program)
    switch try hook.state() {
    case .installed: say("pre-commit hook: it is there already")
    case .missing(let file):
      if !dryRun { try hook.install(at: file) }
      say("pre-commit hook: installed '\(hook.line)'")
    case .occupied(let file):
      say("pre-commit hook: not installed; add the line '\(hook.line) || exit 1' to \(file.path)")
    }
  }

  private func say(_ message: String) { Terminal.print(TerminalText.defused(message)) }
}
