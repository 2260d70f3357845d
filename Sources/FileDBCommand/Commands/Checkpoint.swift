import ArgumentParser
import FileDB

struct Checkpoint: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint", abstract: "Write the commits in the journal into the tables' files.")

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation

  func run() throws { try existingStore().checkpoint() }
}
