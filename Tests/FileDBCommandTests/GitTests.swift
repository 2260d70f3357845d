import FileDB
import Foundation
import TestSupport
import Testing

/// Stores in real git repositories.
@Suite(.enabled(if: hasGit, "needs git")) struct GitTests: RepositorySuite {
  private let ourWork = """
    filedb add todo title=Tea --top && filedb set todo 1 title=Cream && filedb move todo 3 --top
    git commit -q -a -m ours
    """
  private let theirWork = """
    filedb add todo title=Oil && filedb set todo 1 note=cold && filedb delete todo 2
    git commit -q -a -m theirs
    """
  private let together = [
    #"3 ["title": "Salt"]"#, #"4 ["title": "Tea"]"#, #"1 ["note": "cold", "title": "Cream"]"#,
    #"5 ["title": "Oil"]"#,
  ]

  @Test func gitMergesBranches() throws {
    try withRepository { folder in
      try run("\(ourWork)\ngit checkout -q other\n\(theirWork)\ngit checkout -q main", in: folder)
      let merge = try run("git merge -q -m merged other", in: folder)
      #expect(merge.error.contains("todo.plist: their record 4 is record 5 now\n"))
      #expect(try records(in: folder) == together)
      #expect(try run("git status --porcelain", in: folder).output.isEmpty)
    }
  }

  @Test func gitMergesTableWhoseNameLooksLikeAnOption() throws {
    try withRepository { folder in
      try run(
        """
        cp todo.plist ./-list.plist && git add -A && git commit -q -m list && git branch -f other
        sed -i.old 's/Milk/Cream/' ./-list.plist && git commit -q -a -m ours && git checkout -q other
        sed -i.old 's/Salt/Pepper/' ./-list.plist && git commit -q -a -m theirs && git checkout -q main
        git merge -q -m merged other
        """, in: folder)
      let merged = try String(contentsOf: folder.appendingPathComponent("-list.plist"), encoding: .utf8)
      #expect(merged.contains("Cream") && merged.contains("Pepper"))
      try run("rm -f ./-list.plist.old", in: folder)
    }
  }

  /// The branch goes on with the record that gets a new id while its first commit is replayed.
  @Test func recordThatWasCherryPickedIsMergedOnce() throws {
    try withRepository { folder in
      try run(
        """
        filedb add todo title=Tea && git commit -q -a -m tea
        git checkout -q other && filedb add todo title=Oil && git commit -q -a -m oil
        git checkout -q main && git cherry-pick other
        git checkout -q other && filedb add todo title=Rice && git commit -q -a -m rice
        git checkout -q main && git merge -q -m merged other
        """, in: folder)
      let titles = try RecordStore(at: folder).table("todo").snapshot().values().get().map {
        $0["title"]?.string
      }
      #expect(titles.filter { $0 == "Oil" }.count == 1 && titles.contains("Tea") && titles.contains("Rice"))
    }
  }

  @Test func gitRebasesBranch() throws {
    try withRepository { folder in
      try run(
        """
        \(ourWork)
        git checkout -q other
        \(theirWork)
        filedb set todo 4 note=olive && git commit -q -a -m second
        filedb add todo title=Rice && filedb delete todo 4 && git commit -q -a -m third
        git checkout -q other && git rebase -q main HEAD~1
        """, in: folder)
      #expect(try records(in: folder) == together.dropLast() + [#"5 ["note": "olive", "title": "Oil"]"#])
      try run("git checkout -q other && git rebase -q main", in: folder)
      #expect(try records(in: folder) == together.dropLast() + [#"6 ["title": "Rice"]"#])
    }
  }

  @Test func gitMergesBranchesRepeatedly() throws {
    try withRepository { folder in
      try run("\(ourWork)\ngit checkout -q other\n\(theirWork)\ngit checkout -q main", in: folder)
      try run("git merge -q -m first other && git checkout -q other", in: folder)
      try run("filedb set todo 4 note=olive && git commit -q -a -m more && git checkout -q main", in: folder)
      try run("git merge -q -m second other", in: folder)
      let expected: [String] = together.dropLast() + [#"5 ["note": "olive", "title": "Oil"]"#]
      #expect(try records(in: folder) == expected)
      try run("git checkout -q other && git merge -q main", in: folder)
      #expect(try records(in: folder) == expected)
    }
  }

  @Test func conflictStopsMergeAndLosesNothing() throws {
    try withRepository { folder in
      try run(
        """
        filedb set todo 1 title=Cream && git commit -q -a -m ours && git checkout -q other
        filedb set todo 1 title=Butter && filedb delete todo 2 && git commit -q -a -m theirs && git checkout -q main
        """, in: folder)
      let told =
        "both sides changed 'title'; ours is kept\n  base:   \"Milk\"\n  ours:   \"Cream\"\n  theirs: \"Butter\"\n"
      #expect(try run("git merge other", status: 1, in: folder).error.contains(told))
      #expect(try run("git status --porcelain", in: folder).output == "UU todo.plist\n")
      #expect(
        try records(in: folder) == [#"1 ["note": "fresh", "title": "Cream"]"#, #"3 ["title": "Salt"]"#])
      // The conflict is reported again, and the other side's version stays available, until it is settled.
      #expect(try run("git checkout --merge todo.plist", in: folder).error.contains(told))
      #expect(
        try run("git show :3:todo.plist > .theirs && filedb git textconv .theirs", in: folder).output
          .contains(
            "Butter"))
      try run("rm .theirs && filedb set todo 1 title=Butter && git commit -q -a -m merged", in: folder)
      #expect(try records(in: folder).first == #"1 ["note": "fresh", "title": "Butter"]"#)
    }
  }

  @Test func gitDiffShowsChangesByRecord() throws {
    try withRepository { folder in
      try run("filedb add todo title=Tea --top && filedb set todo 3 due:date=2026-12-01", in: folder)
      let diff = try run("git diff", in: folder).output
      #expect(diff.contains("+record 4\n+  title: \"Tea\"\n"))
      #expect(diff.contains(" record 3\n+  due: date \"2026-12-01T00:00:00Z\"\n"))
      #expect(!diff.contains("<key>"))
      // A file that is not a table is shown as it is.
      try run("echo '<plist/>' > odd.plist && git add odd.plist && git diff --cached > .diff", in: folder)
      #expect(
        try String(contentsOf: folder.appendingPathComponent(".diff"), encoding: .utf8).contains("+<plist/>"))
      try run("git rm -q -f odd.plist", in: folder)
    }
  }

  // MARK: - Setting up

  @Test func secondGitSetupChangesNothing() throws {
    try withTemporaryFolder { folder in
      try run("git init -q && printf '*.txt text' > .gitattributes", in: folder)
      let trial = try run(
        "filedb git setup --dry-run && cat .gitattributes && git config --list --local", in: folder)
      #expect(trial.output.contains(".gitattributes: added '/*.plist merge=filedb diff=filedb'\n"))
      #expect(trial.output.contains("\n*.txt textcore."))
      #expect(!trial.output.contains("merge.filedb.driver="))
      #expect(trial.error == "dry run: nothing was written\n")
      try run("filedb git setup && cat .gitattributes .git/config > .first", in: folder)
      let attributes = try String(
        contentsOf: folder.appendingPathComponent(".gitattributes"), encoding: .utf8)
      #expect(attributes == "*.txt text\n/*.plist merge=filedb diff=filedb\n")
      let second = try run("filedb git setup && cat .gitattributes .git/config | cmp - .first", in: folder)
      #expect(second.output.split(separator: "\n").allSatisfy { $0.hasSuffix(" already") })
      #expect(second.output.split(separator: "\n").count == 9)
    }
  }

  /// A program that has a store open, whose commits are in the journal alone.
  private func commit(_ title: String, in folder: URL) throws {
    let store = try RecordStore(at: folder, options: StoreOptions(checkpoints: .manual))
    try store.table("todo").add(["title": .string(title)])
  }

  @Test func gitCommitOfATableThatIsBehindIsRefused() throws {
    try withRepository { folder in
      try run("filedb add todo title=Tea", in: folder)
      try commit("Rice", in: folder)
      #expect(
        try run("filedb info todo", in: folder).output.contains(
          "\nbehind   1 commit, which 'filedb checkpoint'"))
      let refused = try run("git commit -a -m tea", status: 1, in: folder)
      #expect(
        refused.error == """
          filedb: todo.plist lacks a commit that is still in the store's journal
          Write them into the file, and stage it:
            filedb checkpoint
            git add todo.plist

          """)
      try run("filedb checkpoint && git add todo.plist && git commit -q -m tea", in: folder)
      #expect(try run("git show HEAD:todo.plist", in: folder).output.contains("Rice"))
      #expect(try !run("filedb info todo", in: folder).output.contains("behind"))
    }
  }

  @Test func gitCommitNamesEachTableThatIsBehindInItsStore() throws {
    try withRepository { folder in
      let other = folder.appendingPathComponent("my lists")
      try run(
        "mkdir 'my lists' && filedb add todo title=Tea && filedb create todo --store 'my lists' && git add -A",
        in: folder)
      for place in [folder, other] { for title in ["Rice", "Oil"] { try commit(title, in: place) } }
      let refused = try run("git commit -m both", status: 1, in: folder)
      #expect(
        refused.error == """
          filedb: my lists/todo.plist lacks 2 commits that are still in the store's journal
          filedb: todo.plist lacks 2 commits that are still in the store's journal
          Write them into the file, and stage it:
            filedb checkpoint
            filedb checkpoint --store 'my lists'
            git add 'my lists/todo.plist' todo.plist

          """)
      // The commands help in the folder in which the person is.
      let below = try run("git commit -m both", status: 1, in: other)
      let help = below.error.split(separator: "\n").filter { $0.hasPrefix("  ") }.joined(separator: "\n")
      try run("\(help)\ngit commit -q -m both", in: other)
      #expect(try run("git show HEAD:todo.plist", in: folder).output.contains("Oil"))
    }
  }

  @Test func gitCommitOfOtherFilesIsNotRefused() throws {
    try withRepository { folder in
      try commit("Rice", in: folder)
      let result = try run(
        "echo 1 > note.txt && echo '<plist/>' > odd.plist && git add . && git commit -q -m note", in: folder)
      #expect(
        result.error
          == "todo.plist is not in this git commit, and lacks 1 commit of the store; 'filedb checkpoint' writes it\n"
      )
      try run("rm odd.plist && filedb checkpoint", in: folder)
    }
  }

  @Test func anotherPreCommitHookIsLeftAlone() throws {
    try withTemporaryFolder { folder in
      try run("git init -q && printf '#!/bin/sh\\n' > .git/hooks/pre-commit", in: folder)
      let setup = try run("filedb git setup && cat .git/hooks/pre-commit", in: folder).output
      #expect(setup.contains("pre-commit hook: not installed; add the line 'filedb git check || exit 1' to "))
      #expect(setup.hasSuffix("/.git/hooks/pre-commit\n#!/bin/sh\n"))
      // Hooks that other repositories share.
      let shared = try run(
        "rm .git/hooks/pre-commit && mkdir shared.hooks && git config core.hooksPath \"$PWD/shared.hooks\""
          + " && filedb git setup && ls shared.hooks && rmdir shared.hooks", in: folder
      ).output
      #expect(shared.hasSuffix("/shared.hooks/pre-commit\n"))
    }
  }

  @Test func gitSetupUsesFullPathOfProgramOutsidePATH() throws {
    try withTemporaryFolder { folder in
      let line = "git init -q && mkdir 'my tools' && ln -s \"$(command -v filedb)\" 'my tools/filedb'"
      try run("\(line) && './my tools/filedb' git setup", in: folder)
      let driver = try run("git config merge.filedb.driver", in: folder).output
      #expect(driver.hasSuffix("/my tools/filedb' git merge -- %O %A %B %P\n"))
      #expect(driver.hasPrefix("'/"))
    }
  }

  @Test func gitSetupWorksForStoreInSubfolder() throws {
    try withTemporaryFolder { folder in
      try run("git init -q && mkdir -p data/deep && filedb --store data git setup", in: folder)
      let line = "git check-attr merge -- data/todo.plist data/deep/Info.plist Info.plist"
      #expect(
        try run(line, in: folder).output == """
          data/todo.plist: merge: filedb
          data/deep/Info.plist: merge: unspecified
          Info.plist: merge: unspecified

          """)
    }
  }

  @Test func gitSetupOutsideRepositoryIsAnError() throws {
    try withTemporaryFolder { folder in
      let result = try shell("GIT_CEILING_DIRECTORIES=$(dirname $PWD) filedb git setup", in: folder)
      #expect(result.status == 66)
      #expect(result.error.contains("this folder is not in a git repository"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      #expect(try filedb("git", "setup", "nowhere", in: folder).status == 66)
      let noGit = try filedb("git", "setup", in: folder, environment: ["PATH": folder.path])
      #expect(noGit.status == 66)
      #expect(noGit.error.contains("git is not installed"))
    }
  }
}
