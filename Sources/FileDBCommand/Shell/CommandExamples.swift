/// The examples in each command's help and manual page. A test runs all of them.
enum CommandExamples {
  /// Lines of shell, by the name of the command.
  static let lines: [String: [String]] = [
    "tables": ["filedb tables", "filedb --store notes tables"],
    "info": ["filedb info todo", "filedb info todo --all"],
    "show": [
      "filedb show todo --limit 10",
      "filedb show todo --where 'title CONTAINS[c] \"milk\" AND litres > 1' --sort title",
      "filedb show todo --fields title,litres --format csv",
    ],
    "get": ["filedb get todo 1", "filedb get todo 1 title", "filedb get todo 1 --format json"],
    "search": ["filedb search todo milk", "filedb search todo milk --in title --format json"],
    "sql": ["filedb sql 'SELECT title, litres FROM todo WHERE litres > 1 ORDER BY title'"],
    "count": [
      "filedb count todo", "filedb count todo --where 'litres > 1'", "filedb count todo --group title",
    ],
    "check": ["filedb check", "filedb check todo"],
    "log": ["filedb log"],
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
    "delete": ["filedb delete todo 1 2", "filedb delete todo --where 'litres > 1' --dry-run"],
    "duplicate": ["filedb duplicate todo 1 --top"],
    "move": ["filedb move todo 3 --top", "filedb move todo 1 --after 2"],
    "sort": ["filedb sort todo title,-litres"],
    "revert": ["filedb --store mine --attach shipped revert todo 1"],
    "undo": ["filedb undo", "filedb undo --list"],
    "redo": ["filedb redo"],
    "create": ["filedb create shopping"],
    "schema": ["filedb schema todo", "filedb schema todo litres --type float --minimum 0"],
    "rename": ["filedb rename todo litres amount"],
    "drop-field": ["filedb drop-field todo litres"],
    "copy-table": ["filedb copy-table todo later"],
    "rename-table": ["filedb rename-table todo tasks"],
    "truncate": ["filedb truncate todo --yes"],
    "drop": ["filedb drop todo --yes"],
    "import": [
      "filedb import prices.csv prices --detect",
      "filedb import prices.csv prices --key name --on-error skip",
    ],
    "install": ["filedb install shipped data --version 2"],
    "batch": ["printf 'add todo title=Salt\\nadd todo title=Oil\\n' | filedb batch"],
    "cluster": [
      "filedb cluster init postgres://localhost/app todo",
      "filedb cluster join 'postgres://localhost/app?store=todo' here",
    ],
    "copy": ["filedb copy . ../backup"],
    "merge": [
      "filedb merge base.plist ours.plist theirs.plist --output merged.plist", "filedb merge --list",
      "filedb merge --take theirs todo 1.title",
    ],
    "textconv": ["filedb textconv todo.plist"],
    "git-check": ["filedb git-check"],
    "git-setup": ["filedb git-setup"],
    "repair": ["filedb repair", "filedb repair todo --keep both"],
    "checkpoint": ["filedb checkpoint"],
  ]

  /// The help of a command with its examples added. Other texts stay unchanged.
  static func added(toHelp text: String) -> String {
    let start = "USAGE: filedb "
    guard text.hasPrefix("OVERVIEW: "),
      let usage = text.split(separator: "\n").first(where: { $0.hasPrefix(start) }),
      let name = usage.dropFirst(start.count).split(separator: " ").first, let lines = lines[String(name)]
    else { return text }
    return text + (text.hasSuffix("\n") ? "\n" : "\n\n") + "EXAMPLES:\n"
      + lines.map { "  " + $0 }.joined(separator: "\n")
  }
}
