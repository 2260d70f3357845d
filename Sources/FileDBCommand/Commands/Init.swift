import ArgumentParser
import FileDB
import FileDBEssentials

struct Init: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Turn a folder into a store, or move the journal of a store elsewhere.",
    discussion: """
      You seldom need this, because 'filedb create' and 'filedb import' turn the folder into a store. The folder is \
      created if it is missing.

      If Dropbox, Syncthing or another service copies the folder between your machines, give --own-folder. Then what \
      belongs to one machine (the journal, the locks, the undo log and the backups) is kept in $XDG_STATE_HOME/filedb on \
      each machine, by default ~/.local/state/filedb, or on a Mac in ~/Library/Application Support/filedb. A small file \
      '.filedb' takes the place of the folder of that name, and tells all machines, so you run this on one machine only. \
      The command also moves the journal, the undo log and the backups that the store already has.

      If the service already copies the folder '.filedb', first run 'filedb checkpoint' on every machine, close all \
      programs that use the store, and wait until the service has finished. Otherwise the commits that wait on the other \
      machines are lost.

      All programs that use the store on one machine must then run as the same user with the same $XDG_STATE_HOME. Before \
      you copy the folder, or move it to another disk, run 'filedb checkpoint'.
      """)

  static var storeKinds: StoreKinds { .folders }

  @OptionGroup var location: StoreLocation
  @Flag(help: "Keep the journal, the locks, the undo log and the backups outside of the store's folder.")
  var ownFolder = false

  func run() throws {
    guard location.attached.isEmpty else { throw ValidationError("--attach does not work with 'init'.") }
    guard OpenStores.shared == nil else { throw ValidationError("'init' does not work in a script.") }
    guard case .folder(let url) = try storeReference else {
      throw StoreError.withoutFiles("filedb init")
    }
    guard try !isShared else {
      throw ValidationError("This folder is the copy of a store that machines share.")
    }
    var options = use.options
    if ownFolder { options.ownFolder = .inUserState }
    let store = try RecordStore(at: url, options: options)
    // The first write makes the rest.
    try store.write { _ in }
    Terminal.note("the journal of this store is in \(try store.ownFolder.path)")
  }
}
