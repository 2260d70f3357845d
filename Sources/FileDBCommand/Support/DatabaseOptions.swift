import ArgumentParser

/// What an import reads from a SQLite database.
struct DatabaseSource: ParsableArguments {
  @Option(help: ArgumentHelp("For a SQLite database, the table or view to import.", valueName: "name"))
  var table: String?
  @Option(help: ArgumentHelp("For a SQLite database, the SELECT whose rows to import.", valueName: "select"))
  var query: String?

  /// - Parameter name: the table to use if none was named.
  func source(named name: String) -> DatabaseImport.Source {
    query.map(DatabaseImport.Source.query) ?? .table(table ?? name)
  }

  func checkIsAbsent() throws {
    guard table == nil, query == nil else {
      throw ValidationError("--table and --query are for SQLite databases.")
    }
  }

  func validate() throws {
    if table != nil, query != nil { throw ValidationError("Give only one of --table and --query.") }
  }
}

/// The place in a SQLite database for an export.
struct DatabaseDestination: ParsableArguments {
  @Option(help: ArgumentHelp("For a SQLite database, the name of the new table.", valueName: "name"))
  var table: String?
  @Flag(help: "Replace the table if the SQLite database already has it.")
  var replace = false

  func checkIsAbsent() throws {
    guard table == nil, !replace else {
      throw ValidationError("--table and --replace are for SQLite databases.")
    }
  }
}
