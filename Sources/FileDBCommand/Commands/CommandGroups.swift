import ArgumentParser

/// `filedb table`: what is rare with tables.
struct TableGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table", abstract: "Rename or copy a table.",
    subcommands: [TableRename.self, TableCopy.self])
}

/// `filedb field`: what changes a field in all records.
struct FieldGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "field", abstract: "Rename or remove a field in all records.",
    subcommands: [FieldRename.self, FieldDrop.self])
}

/// `filedb git`
struct GitGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git", abstract: "Keep a store in git: merge and compare its tables record by record.",
    discussion: "Run 'filedb git setup' once in each clone. Git runs the other commands.",
    subcommands: [GitSetup.self, GitCheck.self, GitTextconv.self, GitMerge.self])
}

/// `filedb conflicts`
struct ConflictsGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "Settle the conflicts that a merge has left, and merge copies of tables.",
    discussion: """
      A conflict remains if both sides changed a field to different values, if one side deleted a record that the other \
      changed, or if both put the records in another order. Merges by git and of copies, 'filedb repair', and edited files of \
      a shared store can leave conflicts. You can use the table until you settle them. (If a program saved a table's file \
      while commits were waiting in the journal, 'filedb repair --keep' settles that.)
      """,
    subcommands: [ConflictsList.self, ConflictsTake.self, ConflictsMerge.self])
}

/// `filedb ship`
struct ShipGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ship", abstract: "Install the tables that an app ships, and upgrade them.",
    subcommands: [ShipInstall.self, ShipRevert.self])
}

/// `filedb shared`
struct SharedGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shared", abstract: "Share a store between machines, through PostgreSQL or etcd.",
    discussion: """
      'filedb shared init' creates a store in a database, and prints its address. 'filedb shared join' creates a folder \
      with a copy of the store, and the folder follows the store from then on. All commands work there as in any other \
      folder. Commands that only read use the copy, without the network. Commands that write need the network.

      Most commands also accept the address instead of a folder: --store 'postgres://db1/app?store=notes'. An address \
      consists of a URL as PostgreSQL's programs accept it, or of the members of an etcd cluster and a prefix for its \
      keys ('etcds://m1,m2,m3/app?store=notes', or etcd://… without TLS), and of the store's name. No command prints a \
      password, and no folder contains one. Put passwords into ~/.pgpass or PGPASSWORD, and for etcd into ETCDCTL_PASSWORD.
      """,
    subcommands: [
      SharedInit.self, SharedJoin.self, SharedSync.self, SharedStatus.self, SharedCompact.self,
    ])
}
