import ArgumentParser

/// The tables that a command is about; by default all.
struct TableArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The tables; by default all.", valueName: "tables"),
    completion: TableReference.defaultCompletionKind,
    transform: ManyWords.each(TableReference.init(argument:)))
  var words: [[TableReference]] = []

  /// Empty for all.
  var references: [TableReference] { words.flatMap(\.self) }
}
