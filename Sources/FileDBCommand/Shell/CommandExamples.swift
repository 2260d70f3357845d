/// The examples in each command's help and manual page. A test runs all of them.
enum CommandExamples {
  /// Lines of shell, by the name of the command.
  static let lines: [String: [String]] = [
    "tables": ["filedb tables", "filedb --store notes tables"],
    "info": ["filedb info todo", "filedb info todo --all", "filedb info --waiting"],
    "show": [
      "filedb show todo --limit 10",
      "filedb show todo --where 'title CONTAINS[c] \"milk\" AND litres > 1' --sort title",
      "filedb show todo --search milk", "filedb show todo --fields title,litres --format csv",
    ],
    "get": ["filedb get todo 1", "filedb get todo 1 title", "filedb get todo 1 --format json"],
    "sql": ["filedb sql 'SELECT title, litres FROM todo WHERE litres > 1 ORDER BY title'"],
    "count": [
      "filedb count todo", "filedb count todo --where 'litres > 1'", "filedb count todo --group title",
    ],
    "check": ["filedb check", "filedb check todo"],
    "watch": ["filedb watch todo --format ndjson"],
    "browse": ["filedb browse", "filedb browse todo --read-only"],
    "export": [
      "filedb export todo todo.csv", "filedb export todo --format json --where 'litres > 1'",
      "filedb export todo todo.sqlite",
    ],
    "diff": [
      "filedb diff todo old/todo.plist", "git show HEAD:todo.plist | filedb diff - todo --format json",
    ],
    "add": [
      "filedb add todo title='Buy milk' litres:float=1.5",
      "filedb add todo title='Pay the rent' due:date=2026-12-01 --top",
    ],
    "set": [
      "filedb set todo 1 title='Buy oat milk' done:bool=yes",
      "filedb set todo --where 'litres > 1' large:bool=yes", "filedb set todo 1 'litres:=litres * 2'",
    ],
    "edit": ["filedb edit todo 1", "filedb edit todo 1 --format json"],
    "unset": ["filedb unset todo 1 litres", "filedb unset todo --where 'litres > 1' litres"],
    "delete": [
      "filedb delete todo 1 2", "filedb delete todo 1,2-3",
      "filedb delete todo --where 'litres > 1' --dry-run",
    ],
    "duplicate": ["filedb duplicate todo 1 --top"],
    "move": [
      "filedb move todo 3 --top", "filedb move todo 1 --after 2",
      "filedb move todo --where 'litres > 1' --bottom",
    ],
    "sort": ["filedb sort todo title,-litres"],
    "ship revert": ["filedb --store mine --attach shipped ship revert todo 1"],
    "undo": ["filedb undo", "filedb undo --list"],
    "redo": ["filedb redo"],
    "create": ["filedb create shopping"],
    "schema": ["filedb schema todo", "filedb schema todo litres --type float --minimum 0"],
    "field rename": ["filedb field rename todo litres amount"],
    "field drop": ["filedb field drop todo litres --yes"],
    "table copy": ["filedb table copy todo later"],
    "table rename": ["filedb table rename todo tasks"],
    "truncate": ["filedb truncate todo --yes"],
    "drop": ["filedb drop todo --yes"],
    "import": [
      "filedb import prices.csv prices",
      "filedb import prices.csv prices --key name --on-error skip",
    ],
    "ship install": ["filedb ship install shipped data --version 2"],
    "batch": ["printf 'add todo title=Salt\\nadd todo title=Oil\\n' | filedb batch"],
    "shared init": ["filedb shared init postgres://localhost/app todo"],
    "shared join": ["filedb shared join 'postgres://localhost/app?store=todo' here"],
    "shared sync": ["filedb shared sync", "filedb --store here shared sync"],
    "shared status": ["filedb shared status", "filedb shared status --format json"],
    "shared compact": ["filedb --store 'postgres://localhost/app?store=todo' shared compact --older-than 30"],
    "copy": ["filedb copy ../backup"],
    "merge": ["filedb merge base.plist ours.plist theirs.plist --output merged.plist"],
    "conflicts list": ["filedb conflicts list"],
    "conflicts take": ["filedb conflicts take theirs", "filedb conflicts take theirs todo 1.title"],
    "conflicts merge": ["filedb conflicts merge", "filedb conflicts merge todo --dry-run"],
    "git setup": ["filedb git setup"],
    "git check": ["filedb git check"],
    "git textconv": ["filedb git textconv todo.plist"],
    "git merge": ["filedb git merge base.plist ours.plist theirs.plist todo.plist"],
    "repair": ["filedb repair", "filedb repair todo --keep both"],
    "checkpoint": ["filedb checkpoint"],
    "init": ["filedb init --own-folder"],
  ]

  /// The help of a command with its examples added. Other texts stay unchanged.
  static func added(toHelp text: String) -> String {
    let start = "USAGE: filedb "
    guard text.hasPrefix("OVERVIEW: "),
      let usage = text.split(separator: "\n").first(where: { $0.hasPrefix(start) }),
      let lines = lines(of: usage.dropFirst(start.count).split(separator: " ").map(String.init))
    else { return text }
    return text + (text.hasSuffix("\n") ? "\n" : "\n\n") + "EXAMPLES:\n"
      + lines.map { "  " + $0 }.joined(separator: "\n")
  }

  /// - Parameter words: the words of the usage, which begin with the command's name.
  private static func lines(of words: [String]) -> [String]? {
    lines[words.prefix(2).joined(separator: " ")] ?? words.first.flatMap { lines[$0] }
  }
}
