import FileDB
import Foundation
import TestSupport
import Testing

/// Git merges branches of a store whose tables have rules.
@Suite(.enabled(if: hasGit, "needs git")) struct GitSchemaTests: RepositorySuite {
  /// A title is required and unique; a note is the name of a record of `tags`.
  private let rules = """
    filedb git setup && filedb create tags && filedb schema tags name --type string --required --unique
    filedb add tags name=fresh && filedb add tags name=old
    filedb schema todo title --type string --required --unique
    filedb schema todo note --type string --references tags.name
    """

  @Test func recordsAndRulesOfBothBranchesMerge() throws {
    try withRepository(setup: rules) { folder in
      try run(
        """
        filedb add todo title=Tea note=old && filedb schema todo title --title Name && git commit -q -a -m ours
        git checkout -q other && filedb schema todo price --type float && filedb add todo title=Oil price=1.5
        git commit -q -a -m theirs && git checkout -q main && git merge -q -m merged other
        """, in: folder)
      #expect(try run("filedb check", in: folder).output == "tags: sound\ntodo: sound\n")
      #expect(
        try run("filedb schema todo", in: folder).output == """
          field  type    title  rules
          title  string  Name   required, unique
          note   string         refers to tags.name (on delete restrict)
          price  float

          """)
      #expect(
        try records(in: folder).suffix(2).map { $0.contains("Tea") || $0.contains("Oil") } == [true, true])
    }
  }

  /// Each branch keeps the rules, and both together do not: nothing is lost, and git stops.
  @Test func valueThatIsUniqueInEachBranchAloneIsAConflict() throws {
    try withRepository(setup: rules) { folder in
      try run(
        """
        filedb add todo title=Corn note=old && git commit -q -a -m ours && git checkout -q other
        filedb add todo title=Corn note=fresh && git commit -q -a -m theirs && git checkout -q main
        """, in: folder)
      let merge = try run("git merge -m merged other", status: 1, in: folder)
      #expect(
        merge.error.contains(
          """
          CONFLICT todo.plist: record 5: 'title' does not keep the schema: record 4 has 'Corn' already, and the field is \
          unique
          todo.plist: 1 conflict; the file can be used as it is. 'filedb check' names the records that do not keep the schema
          """))
      #expect(
        try run("filedb check", in: folder).output.contains("record 5: field 'title': record 4 has 'Corn'"))
      try run("filedb set todo 5 title=Maize && git commit -q -a -m settled && filedb check", in: folder)
    }
  }

  /// Git's driver sees one file at a time: one branch deletes the record to which the other one's refers.
  @Test func checkNamesReferenceWhoseTargetTheOtherBranchDeleted() throws {
    try withRepository(setup: rules) { folder in
      try run(
        """
        filedb unset todo 1 note && filedb delete tags 1 && git commit -q -a -m ours && git checkout -q other
        filedb add todo title=Yeast note=fresh && git commit -q -a -m theirs && git checkout -q main
        git merge -q -m merged other
        """, in: folder)
      #expect(
        try run("filedb check", in: folder).output.contains(
          "table 'todo': record 4: field 'note': tags.name has no 'fresh'"))
      #expect(
        try run("filedb add todo title=Malt note=fresh", status: 65, in: folder).error.contains("tags.name"))
      try run("filedb delete todo 4 && filedb check", in: folder)
    }
  }
}
