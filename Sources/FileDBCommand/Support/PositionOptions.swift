import ArgumentParser
import FileDB

/// The place for a record.
struct PositionOptions: ParsableArguments {
  @Flag(help: "At the top.")
  var top = false
  @Flag(help: "At the bottom.")
  var bottom = false
  @Option(help: ArgumentHelp("Before the record with this id.", valueName: "id"))
  var before: RecordID<Fields>?
  @Option(help: ArgumentHelp("After the record with this id.", valueName: "id"))
  var after: RecordID<Fields>?
  @Option(parsing: .unconditional, help: ArgumentHelp("At this index, counted from 0.", valueName: "n"))
  var index: Int?

  private var given: [Position<Fields>] {
    [
      top ? .top : nil, bottom ? .bottom : nil, before.map(Position.before), after.map(Position.after),
      index.map(Position.index),
    ].compactMap(\.self)
  }

  /// The chosen position, if any.
  var position: Position<Fields>? { given.first }

  func validate() throws {
    if given.count > 1 {
      throw ValidationError("Give only one of --top, --bottom, --before, --after and --index.")
    }
  }
}
