import FileDB
import Foundation
import TestSupport
import Testing

/// Repositories in which nobody ran `filedb git setup`, so that git merges tables as text.
@Suite(.enabled(if: hasGit, "needs git")) struct TextMergeTests: RepositorySuite {
  private static let styles = ["merge", "diff3", "zdiff3"]

  private let ours = """
    filedb add todo title=Tea --top && filedb set todo 1 title=Cream && filedb move todo 3 --top
    git commit -q -a -m ours
    """
  private let theirs = """
    filedb add todo title=Oil && filedb set todo 1 note=cold && filedb delete todo 2
    git commit -q -a -m theirs
    """

  /// Runs `body` where git left conflict markers in the file of the two branches.
  private func withMarkers(
    style: String = "merge", ours: String, theirs: String, _ body: (URL) throws -> Void
  ) throws {
    try withRepository(setup: "git config merge.conflictStyle \(style)") { folder in
      try run("\(ours)\ngit checkout -q other\n\(theirs)\ngit checkout -q main", in: folder)
      try run("git merge -q other", status: 1, in: folder)
      try body(folder)
    }
  }

  /// The same file where git has no other version of it.
  private func withMarkersAlone(_ folder: URL, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { alone in
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent("todo.plist"), to: alone.appendingPathComponent("todo.plist"))
      try body(alone)
      try RecordStore(at: alone).checkInvariants()
    }
  }

  @Test func fileWithMarkersIsNamedWithWhatToDo() throws {
    try withMarkers(ours: ours, theirs: theirs) { folder in
      let file = folder.appendingPathComponent("todo.plist")
      let before = try Data(contentsOf: file)
      let lines = String(decoding: before, as: UTF8.self).split(
        separator: "\n", omittingEmptySubsequences: false)
      let line = try #require(lines.firstIndex { $0.hasPrefix("<<<<<<<") }) + 1
      for command in ["check", "show todo", "add todo title=Fig", "conflicts list"] {
        let result = try run("filedb \(command)", status: 65, in: folder)
        #expect(
          (result.output + result.error).contains(
            "todo.plist:\(line): table 'todo': the file has git's conflict markers; 'filedb repair' merges both versions"
          ), "\(command): \(result)")
      }
      #expect(try Data(contentsOf: file) == before)
      try run("filedb repair", in: folder)
    }
  }

  @Test(arguments: styles) func repairMergesGitsVersions(style: String) throws {
    try withMarkers(style: style, ours: ours, theirs: theirs) { folder in
      let trial = try run("filedb repair --dry-run", in: folder)
      #expect(trial.output.contains("git's versions of the file were merged, record by record"))
      #expect(try run("filedb check", status: 65, in: folder).output.contains("conflict markers"))
      let repair = try run("filedb repair", in: folder)
      #expect(repair.error.contains("todo: their record 4 is record 5 now"))
      #expect(
        try records(in: folder) == [
          #"3 ["title": "Salt"]"#, #"4 ["title": "Tea"]"#, #"1 ["note": "cold", "title": "Cream"]"#,
          #"5 ["title": "Oil"]"#,
        ])
      #expect(try run("ls .filedb/backups", in: folder).output.contains("todo.plist."))
    }
  }

  /// Where git has no versions any more, such as after the markers were committed.
  @Test(arguments: styles) func repairMergesWhatTheMarkersEnclose(style: String) throws {
    let ours = "filedb set todo 1 title=Cream && filedb set todo 3 title=Pepper && git commit -q -a -m ours"
    let theirs = "filedb set todo 1 title=Butter && filedb set todo 2 note=rye && git commit -q -a -m theirs"
    try withMarkers(style: style, ours: ours, theirs: theirs) { folder in
      try withMarkersAlone(folder) { alone in
        let repair = try run("filedb repair", status: 1, in: alone)
        #expect(repair.error.contains("CONFLICT todo: record 1: both sides changed 'title'; ours is kept"))
        #expect(
          try records(in: alone) == [
            #"1 ["note": "fresh", "title": "Cream"]"#, #"2 ["note": "rye", "title": "Bread"]"#,
            #"3 ["title": "Pepper"]"#,
          ])
        let list = try run("filedb conflicts list", status: 1, in: alone)
        #expect(list.output.contains("  theirs: \"Butter\"\n"))
        #expect(list.output.contains("  base:   \"Milk\"\n") == (style != "merge"))
        try run("filedb conflicts take theirs 1.title", in: alone)
        #expect(try records(in: alone).first == #"1 ["note": "fresh", "title": "Butter"]"#)
        #expect(try run("filedb conflicts list", in: alone).error == "no conflicts\n")
      }
      try run("filedb repair", status: 1, in: folder)
    }
  }

  /// Without the base, nobody knows which side added what the other lacks. It is kept.
  @Test func repairWithoutBaseLosesNothing() throws {
    try withMarkers(ours: ours, theirs: theirs) { folder in
      try withMarkersAlone(folder) { alone in
        let result = try shell("filedb repair", in: alone)
        #expect([0, 1].contains(result.status), "\(result)")
        let titles = try RecordStore(at: alone).table("todo").lastSnapshot.compactMap {
          $0.fields["title"]?.string
        }
        for title in ["Salt", "Tea", "Cream", "Oil"] { #expect(titles.contains(title), "\(titles)") }
      }
      try run("filedb repair", in: folder)
    }
  }

  /// What somebody did in an editor is in the file alone.
  @Test(arguments: styles) func editedFileCountsMoreThanGitsVersions(style: String) throws {
    let ours = "filedb set todo 1 title=Cream && git commit -q -a -m ours"
    let theirs = "filedb set todo 1 title=Butter && git commit -q -a -m theirs"
    try withMarkers(style: style, ours: ours, theirs: theirs) { folder in
      try run("sed -i.old s/Bread/Rye/ todo.plist && rm todo.plist.old", in: folder)
      let repair = try run("filedb repair", status: 1, in: folder)
      #expect(repair.output.contains("between git's conflict markers were merged"))
      #expect(
        try records(in: folder) == [
          #"1 ["note": "fresh", "title": "Cream"]"#, #"2 ["title": "Rye"]"#, #"3 ["title": "Salt"]"#,
        ])
    }
  }

  // MARK: - Settling conflicts later

  private let ourConflicts = """
    filedb set todo 1 title=Cream note=ours && filedb delete todo 2 && filedb set todo 3 title=Pepper
    git commit -q -a -m ours
    """
  private let theirConflicts = """
    filedb set todo 1 title=Butter && filedb unset todo 1 note && filedb set todo 2 title=Rye && filedb delete todo 3
    git commit -q -a -m theirs
    """

  @Test(arguments: ["filedb git setup", "true"]) func conflictsAreListedAndSettled(setup: String) throws {
    try withRepository(setup: setup) { folder in
      try run("\(ourConflicts)\ngit checkout -q other\n\(theirConflicts)\ngit checkout -q main", in: folder)
      try run("git merge -q other", status: 1, in: folder)
      if setup == "true" { try run("filedb repair", status: 1, in: folder) }
      let list = try run("filedb conflicts list", status: 1, in: folder)
      let rows = try run("filedb conflicts list --format ndjson", status: 1, in: folder).output.split(
        separator: "\n")
      #expect(
        rows.count == 4 && rows.allSatisfy { $0.hasPrefix(#"{"table": "todo", "record": "#) }, "\(rows)")
      #expect(
        rows.contains {
          $0.contains(#""kind": "deleted by ours", "base": {"#) && $0.contains(#""theirs": {"#)
        })
      #expect(rows.contains { $0.contains(#""field": "title", "kind": "changed", "base": "#) })
      #expect(list.output.split(separator: "\n").filter { $0.hasPrefix("CONFLICT todo: record ") }.count == 4)
      #expect(list.error == "4 conflicts; 'filedb conflicts take ours' or 'theirs' settles them\n")
      #expect(
        try run("filedb conflicts take theirs 9", status: 1, in: folder).error.contains(
          "there is no conflict"))
      // By hand, by the other side, and as it is.
      try run("filedb set todo 1 title=Ghee", in: folder)
      try run("filedb conflicts take theirs todo 1.note 3 --dry-run", in: folder)
      #expect(try run("filedb conflicts list", status: 1, in: folder).error.hasPrefix("3 conflicts"))
      let taken = try run("filedb conflicts take theirs todo 1.note 3", in: folder)
      #expect(taken.error == "todo: 2 settled\ntodo: 1 left\n")
      #expect(
        try run("filedb conflicts list", status: 1, in: folder).output.contains("record 2: ours deleted it"))
      let last = try run("filedb conflicts take theirs", in: folder)
      #expect(last.error == "todo: 1 settled\ntodo: no conflicts are left; run 'git add' next\n")
      #expect(try run("filedb conflicts list todo", in: folder).error == "no conflicts\n")
      #expect(try records(in: folder) == [#"1 ["title": "Ghee"]"#, #"2 ["title": "Rye"]"#])
      // Taken back, it is a conflict again.
      try run("filedb undo 2>/dev/null && filedb undo && filedb conflicts list todo", status: 1, in: folder)
      try run(
        "filedb conflicts take theirs && git commit -q -a -m merged && filedb conflicts list", in: folder)
    }
  }

  @Test func takingOursSettlesToo() throws {
    try withRepository { folder in
      try run("\(ourConflicts)\ngit checkout -q other\n\(theirConflicts)\ngit checkout -q main", in: folder)
      try run("git merge -q other", status: 1, in: folder)
      #expect(try run("filedb conflicts take ours 1", in: folder).error == "todo: 2 settled\ntodo: 2 left\n")
      #expect(try run("filedb conflicts list", status: 1, in: folder).error.hasPrefix("2 conflicts"))
      try run("filedb conflicts take ours", in: folder)
      #expect(
        try records(in: folder) == [#"1 ["note": "ours", "title": "Cream"]"#, #"3 ["title": "Pepper"]"#])
      #expect(try run("filedb conflicts list", in: folder).error == "no conflicts\n")
      // The conflicts of a merge that was given up are none of the next one.
      try run("git merge --abort && filedb conflicts list", in: folder)
      #expect(try run("git merge -q other", status: 1, in: folder).error.contains("4 conflicts"))
      #expect(try run("filedb conflicts list todo", status: 1, in: folder).error.hasPrefix("4 conflicts"))
    }
  }

  // MARK: - Favoring a side

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/cmdline"), "needs /proc"),
    arguments: [
      "merge -q -X theirs other", "merge -q -Xtheirs other", "merge --strategy-option=theirs -q other",
    ])
  func gitMergeFavorsTheirs(command: String) throws {
    try withRepository { folder in
      try run("\(ourConflicts)\ngit checkout -q other\n\(theirConflicts)\ngit checkout -q main", in: folder)
      try run("git \(command)", in: folder)
      #expect(try records(in: folder) == [#"1 ["title": "Butter"]"#, #"2 ["title": "Rye"]"#])
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/cmdline"), "needs /proc"))
  func gitFavorsOursAndRebases() throws {
    try withRepository { folder in
      try run("\(ourConflicts)\ngit checkout -q other\n\(theirConflicts)\ngit checkout -q main", in: folder)
      try run("git merge -q -X ours -m merged other", in: folder)
      let ours = [#"1 ["note": "ours", "title": "Cream"]"#, #"3 ["title": "Pepper"]"#]
      #expect(try records(in: folder) == ours)
      // In a rebase, theirs are the commits that are replayed.
      try run("git checkout -q other && git rebase -q -X ours main~1", in: folder)
      #expect(try records(in: folder) == ours)
    }
  }

  @Test func mergeOfFilesFavorsASide() throws {
    try withRepository { folder in
      try run("\(ourConflicts)\ngit checkout -q other\n\(theirConflicts)\ngit checkout -q main", in: folder)
      try run(
        "for v in main~1 main other; do git show $v:todo.plist >.$v; done; mv .main~1 .base; filedb merge --favor theirs "
          + ".base .main .other && filedb git textconv .main >.text", in: folder)
      let text = try String(contentsOf: folder.appendingPathComponent(".text"), encoding: .utf8)
      #expect(text.contains("Butter") && text.contains("Rye") && !text.contains("Pepper"))
      #expect(try run("filedb merge", status: 64, in: folder).error.contains("<base> <ours> <theirs>"))
    }
  }
}
