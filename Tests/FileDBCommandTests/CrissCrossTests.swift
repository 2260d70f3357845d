import FileDB
import Foundation
import TestSupport
import Testing

/// Branches that merged each other. Git first merges their common versions into one, by the merge driver as well.
@Suite(.enabled(if: hasGit, "needs git")) struct CrissCrossTests: RepositorySuite {
  /// What two branches do, and how each settles the conflict.
  struct Dispute: CustomTestStringConvertible, Sendable {
    let name: String
    let ours: String
    let theirs: String
    let settledByOurs: String
    let settledByTheirs: String
    /// What the merge says.
    let told: String

    var testDescription: String { name }
  }

  static let disputes = [
    Dispute(
      name: "a field", ours: "filedb set todo 1 title=Cream", theirs: "filedb set todo 1 title=Butter",
      settledByOurs: "filedb set todo 1 title=Cream", settledByTheirs: "filedb set todo 1 title=Butter",
      told: "record 1: both sides changed 'title'; ours is kept\n  base:   \"Milk\"\n"),
    Dispute(
      name: "a field, settled as it was", ours: "filedb set todo 1 title=Cream",
      theirs: "filedb set todo 1 title=Butter", settledByOurs: "filedb set todo 1 title=Milk",
      settledByTheirs: "filedb set todo 1 title=Ghee", told: "record 1: both sides changed 'title'"),
    Dispute(
      name: "a field removed", ours: "filedb set todo 1 note=old", theirs: "filedb unset todo 1 note",
      settledByOurs: "filedb set todo 1 note=old", settledByTheirs: "filedb unset todo 1 note",
      told: "record 1: both sides changed 'note'"),
    Dispute(
      name: "a deletion", ours: "filedb set todo 2 title=Rye", theirs: "filedb delete todo 2",
      settledByOurs: "filedb set todo 2 title=Rye",
      settledByTheirs: "filedb delete todo 2",
      told: "record 2: "),
    Dispute(
      name: "a deletion, settled as it was", ours: "filedb set todo 2 title=Rye",
      theirs: "filedb delete todo 2",
      settledByOurs: "filedb set todo 2 title=Bread",
      settledByTheirs: "filedb delete todo 2",
      told: "record 2: "),
    Dispute(
      name: "a rule", ours: "filedb schema todo title --title Name",
      theirs: "filedb schema todo title --title Label",
      settledByOurs: "filedb schema todo title --title Name",
      settledByTheirs: "filedb schema todo title --title Label",
      told: "todo.plist: both sides changed 'schema"),
    Dispute(
      name: "another key", ours: replaceRoot("owner", "Ann"), theirs: replaceRoot("owner", "Bob"),
      settledByOurs: replaceRoot("owner", "Ann"), settledByTheirs: replaceRoot("owner", "Bob"),
      told: "todo.plist: both sides changed 'owner'"),
    Dispute(
      name: "an order", ours: "filedb sort todo title", theirs: "filedb sort todo -- -title",
      settledByOurs: "filedb sort todo title", settledByTheirs: "filedb sort todo -- -title",
      told: "todo.plist: both sides put the records in another order"),
  ]

  /// Sets a key beside the records, as another program might.
  private static func replaceRoot(_ key: String, _ value: String) -> String {
    """
    sed -i.old -e '/<key>\(key)<.key>/{N;d;}' -e 's/^<dict>$/<dict><key>\(key)<\\/key><string>\(value)<\\/string>/' \
    todo.plist && rm todo.plist.old
    """
  }

  /// Commits even what is as it was.
  private static let commit = "git commit -q --allow-empty -a -m"
  /// More records, so that each sort moves several of them.
  private static let more =
    "for t in Fig Date Yam Leek Kale Corn; do echo add todo title=$t; done | filedb batch -"

  private static func merge(_ branch: String, settled: String) -> String {
    """
    git merge -q \(branch) >.log 2>&1 || true
    rm .log
    \(settled)
    git add -A && \(commit) settled
    """
  }

  /// Both branches changed the same, each merged the other's change, and each settled it in its own way.
  private func disagree(_ dispute: Dispute, in folder: URL) throws {
    try run(
      """
      \(Self.more); \(Self.commit) more
      git checkout -q -b one && \(dispute.ours) && \(Self.commit) ours && git tag first
      git checkout -q -b two main && \(dispute.theirs) && \(Self.commit) theirs && git tag second
      git checkout -q one
      \(Self.merge("second", settled: dispute.settledByOurs))
      git checkout -q two
      \(Self.merge("first", settled: dispute.settledByTheirs))
      """, in: folder)
  }

  @Test(arguments: disputes) func sidesThatSettledAConflictDifferentlyAreInConflict(dispute: Dispute) throws {
    try withRepository { folder in
      try disagree(dispute, in: folder)
      for (ours, theirs, strategy) in [("one", "two", "recursive"), ("two", "one", "ort")] {
        try run("git checkout -q \(ours)", in: folder)
        let before = try records(in: folder)
        let merge = try run("git merge -s \(strategy) \(theirs)", status: 1, in: folder)
        #expect(merge.error.contains(dispute.told), "\(merge.error)")
        #expect(!merge.error.contains("\"filedb conflict\""), "\(merge.error)")
        #expect(try records(in: folder) == before || dispute.name.hasPrefix("a deletion"))
        let list = try run("filedb conflicts list", status: 1, in: folder)
        #expect(list.output.contains("CONFLICT todo"))
        try run("git merge --abort", in: folder)
      }
    }
  }

  @Test(arguments: disputes) func sidesThatSettledAConflictAlikeAreNot(dispute: Dispute) throws {
    let alike = Dispute(
      name: dispute.name, ours: dispute.ours, theirs: dispute.theirs, settledByOurs: dispute.settledByOurs,
      settledByTheirs: dispute.settledByOurs, told: "")
    try withRepository { folder in
      try disagree(alike, in: folder)
      try run("git checkout -q one && filedb set todo 3 note=one && \(Self.commit) one", in: folder)
      try run("git checkout -q two && filedb add todo title=Rice && \(Self.commit) two", in: folder)
      try run("git merge -q -m merged one", in: folder)
      let merged = try records(in: folder)
      #expect(merged.contains { $0.contains("Rice") } && merged.contains { $0.contains("one") })
      let text = try String(contentsOf: folder.appendingPathComponent("todo.plist"), encoding: .utf8)
      #expect(!text.contains("filedb conflict"))
    }
  }

  /// Both branches sort the table, and one side's order is taken in the end.
  @Test func ordersOfTwoSortsAreSettled() throws {
    try withRepository { folder in
      try run(
        """
        \(Self.more); \(Self.commit) more && git branch -f other
        filedb sort todo title && \(Self.commit) ours && git checkout -q other
        filedb sort todo -- -title && filedb add todo title=Rice --top && \(Self.commit) theirs
        """, in: folder)
      let theirs = try records(in: folder)
      try run("git checkout -q main", in: folder)
      let ours = try records(in: folder)
      let merge = try run("git merge other", status: 1, in: folder)
      #expect(
        merge.error.contains(
          "CONFLICT todo.plist: both sides put the records in another order; ours is kept\n"))
      #expect(try records(in: folder) == [theirs[0]] + ours)
      try run("filedb conflicts take theirs todo", in: folder)
      #expect(try records(in: folder) == theirs)
      #expect(try run("filedb conflicts list", in: folder).error == "no conflicts\n")
      try run("filedb undo && filedb conflicts take ours && filedb conflicts list", in: folder)
      #expect(try records(in: folder) == [theirs[0]] + ours)
      try run("git commit -q -a -m merged", in: folder)
    }
  }

  /// Each branch merges the changes of three, so that both have three common versions.
  @Test(arguments: ["ort", "recursive"]) func threeCommonVersionsAreInConflict(strategy: String) throws {
    func merged(_ branch: String, from first: String, _ others: [String], _ title: String) -> String {
      (["git checkout -q -b \(branch) \(first)"]
        + others.map { Self.merge($0, settled: "filedb set todo 1 title=\(title)") }).joined(separator: "\n")
    }
    try withRepository { folder in
      for (tag, title) in [("a", "Cream"), ("b", "Butter"), ("c", "Curd")] {
        try run(
          "git checkout -q main && filedb set todo 1 title=\(title) && git checkout -q -b of-\(tag)"
            + " && \(Self.commit) \(tag) && git tag \(tag) && git checkout -q main", in: folder)
      }
      try run(
        """
        \(merged("one", from: "a", ["b", "c"], "Whey"))
        \(merged("two", from: "c", ["b", "a"], "Ghee"))
        """, in: folder)
      #expect(try run("git merge-base --all one two | wc -l", in: folder).output.contains("3"))
      for (ours, theirs) in [("one", "two"), ("two", "one")] {
        try run("git checkout -q \(ours)", in: folder)
        let merge = try run("git merge -s \(strategy) \(theirs)", status: 1, in: folder)
        #expect(
          merge.error.contains("record 1: both sides changed 'title'; ours is kept\n  base:   \"Milk\"\n"))
        try run("git merge --abort", in: folder)
      }
    }
  }

  @Test(arguments: ["ort", "recursive"]) func renamedTableIsInConflict(strategy: String) throws {
    try withRepository { folder in
      try run(
        """
        \(Self.more); \(Self.commit) more
        git checkout -q -b one && filedb set todo 1 title=Cream && git mv todo.plist list.plist
        \(Self.commit) ours && git tag first
        git checkout -q -b two main && filedb set todo 1 title=Butter && \(Self.commit) theirs && git tag second
        git checkout -q one
        \(Self.merge("second", settled: "filedb set list 1 title=Cream"))
        git checkout -q two
        \(Self.merge("first", settled: "filedb set list 1 title=Butter"))
        """, in: folder)
      let merge = try run("git merge -s \(strategy) one", status: 1, in: folder)
      #expect(merge.error.contains("CONFLICT list.plist: record 1: both sides changed 'title'; ours is kept"))
    }
  }

  /// The common version of both branches cannot be made, so nobody can say what they changed.
  @Test func damagedCommonVersionIsAnError() throws {
    try withRepository { folder in
      try run(
        """
        git checkout -q -b one && filedb set todo 1 title=Cream && \(Self.commit) ours && git tag first
        git checkout -q -b two main && cp todo.plist .whole && echo '<plist>' >todo.plist
        git commit -q -n -a -m theirs && git tag second
        git checkout -q one && git merge -q second >.log 2>&1 || true
        git checkout -q --ours todo.plist && git add todo.plist && git commit -q -m settled
        git checkout -q two && git merge -q first >.log 2>&1 || true
        cp .whole todo.plist && rm .whole .log && filedb set todo 1 title=Ghee && git add todo.plist
        git commit -q -m settled
        """, in: folder)
      for (ours, theirs) in [("one", "two"), ("two", "one")] {
        let merge = try run("git checkout -q \(ours) && git merge \(theirs)", status: 1, in: folder)
        #expect(merge.error.contains("todo.plist (base):"))
        try run("git merge --abort", in: folder)
      }
    }
  }
}
