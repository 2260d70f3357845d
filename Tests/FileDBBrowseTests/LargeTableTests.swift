import FileDB
import TestSupport
import Testing

@testable import FileDBBrowse

/// Tables that take long to read.
@Suite struct LargeTableTests {
  @Test func largeTablesAreShownAsBeingReadUntilTheyAre() throws {
    try withTemporaryFolder { folder in
      let first = try RecordStore(at: folder)
      for name in ["a", "b", "c"] { try first.table(name).add(["n": 1]) }
      try first.checkpoint()
      try first.close()
      let store = try RecordStore(at: folder)
      let site = Site(store, access: .readAndWrite, largeFrom: 1)
      #expect(
        try text(.object(site.overview())).contains(
          #"{"name":"a","count":null,"problem":null,"attached":false,"reading":"#))
      #expect(throws: RequestError.self) { try site.tables["b"] }
      // The one that a page asks for is read first.
      #expect(
        try text(site.describe("b")).contains(
          #""count":null,"columns":[],"schema":false,"problem":null,"reading":"#))
      var read: [[String]] = []
      site.tables.readAll { read.append(["a", "b", "c"].filter { site.tables.sizeOfUnread($0) == nil }) }
      #expect(read == [["b"], ["a", "b"], ["a", "b", "c"]])
      #expect(try !text(.object(site.overview())).contains("reading"))
      #expect(try text(site.describe("b")).hasPrefix(#"{"name":"b","count":1,"columns":[{"name":"n""#))
      #expect(try site.tables["b"].snapshot.count == 1)
      try store.checkInvariants()
    }
  }

  @Test func smallTableIsReadWhenAPageAsks() throws {
    try withTemporaryFolder { folder in
      let first = try RecordStore(at: folder)
      try first.table("a").add(["n": 1])
      try first.checkpoint()
      try first.close()
      let store = try RecordStore(at: folder)
      let site = Site(store, access: .readAndWrite, largeFrom: 1 << 20)
      #expect(try site.tables["a"].snapshot.count == 1)
      #expect(try text(.object(site.overview())).contains(#"{"name":"a","count":1,"#))
      try store.checkInvariants()
    }
  }

  private func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }
}
