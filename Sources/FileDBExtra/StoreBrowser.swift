import FileDB
import FileDBBrowse
import FileDBCluster
import FileDBCommand

/// Stores in the browser.
extension AllExtras {
  func browse(_ store: RecordStore, _ request: BrowseRequest) throws -> any Browsing {
    try BrowseServer(
      store, port: request.port, access: request.isReadOnly ? .readOnly : .readAndWrite,
      shared: sharedStore(of: store))
  }

  private func sharedStore(of store: RecordStore) throws -> BrowseServer.SharedStore? {
    guard let log = store.sharedLog as? any EngineLog else { return nil }
    return BrowseServer.SharedStore(address: try log.address() ?? log.name) {
      (try? store.shownFiles?.editedTables(among: nil)) ?? []
    }
  }
}

extension BrowseServer: Browsing {}
