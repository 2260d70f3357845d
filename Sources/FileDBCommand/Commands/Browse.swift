import ArgumentParser
import Dispatch
import FileDB
import FileDBEssentials

struct Browse: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Show the store in the browser, and edit it there.",
    discussion: """
      Opens the browser that $BROWSER names, or else the usual one, and prints the address of the page. The address \
      works once, in one tab, so nobody else has access. You need no network. Press ^C to end the command.

      Your changes in the browser are written at once, and 'filedb undo' can undo them. Changes made by other programs \
      appear at once.
      """)

  @OptionGroup var location: StoreLocation
  @Argument(help: "The table to begin with.") var table: TableReference?
  @Option(
    help: ArgumentHelp(
      "The port to listen on; by default the store's own, which stays the same. 0 is any free one.",
      valueName: "n"))
  var port: Int?
  @Flag(help: "Show the store, and refuse changes.") var readOnly = false
  @Flag(name: .customLong("no-open"), help: "Only print the address.") var opensNothing = false

  var use: StoreUse { .untilEnd }
  static var storeKinds: StoreKinds { .folders }

  func validate() throws {
    if let port, !(0...65_535).contains(port) { throw ValidationError("--port takes a number up to 65535.") }
  }

  func run() throws {
    let extra = try FileDBTool.needExtra()
    let store = try existingStore(for: table)
    if let table { _ = try existingTable(table) }
    let server = try extra.browse(store, BrowseRequest(port: port, isReadOnly: readOnly))
    let isOver = DispatchSemaphore(value: 0)
    let endings = EndSignals.call { isOver.signal() }
    let address = server.url.absoluteString + (table.map { "/" + PercentEncoding.encode($0.name) } ?? "")
    Terminal.print(address)
    Terminal.flush()
    let page = opensNothing ? nil : WebBrowser.open(address)
    defer { page?.remove() }
    Terminal.note("'\(store.url.lastPathComponent)' is in the browser; ^C ends")
    isOver.wait()  // The main thread has nothing else to do.
    withExtendedLifetime(endings) {}
    server.stop()
    WriteOptions.close(store)
  }
}
