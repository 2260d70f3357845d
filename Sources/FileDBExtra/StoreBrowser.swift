import FileDB
import FileDBBrowse
import FileDBCommand

/// Stores in the browser.
extension AllExtras {
  func browse(_ store: RecordStore, _ request: BrowseRequest) throws -> any Browsing {
    try BrowseServer(store, port: request.port, access: request.isReadOnly ? .readOnly : .readAndWrite)
  }
}

extension BrowseServer: Browsing {}
