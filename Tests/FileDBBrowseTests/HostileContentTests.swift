import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// What a store may hold, and a browser must not run.
@Suite struct HostileContentTests {
  @Test func everyAnswerForbidsForeignContent() async throws {
    try await withBrowsedStore { browsed throws in
      for path in [
        "/", "/pages/index.html", "/api/store", "/nothing", "/api/tables/nothing", "/api/tables/%00",
      ] {
        for answer in [
          try browsed.get(path), try RawConnection(port: browsed.port).answer(to: "GET", path, []),
        ] {
          if answer.status == 400 && answer.headers["content-type"] == nil { continue }  // Not a request at all.
          for (name, value) in Self.headers { #expect(answer.headers[name] == value, "\(path)") }
          #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") })
        }
      }
    }
  }

  private static let headers = [
    "content-security-policy": """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; \
    worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
    """,
    "x-content-type-options": "nosniff", "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY", "referrer-policy": "no-referrer",
  ]

  @Test func scriptInNamesAndValuesStaysText() async throws {
    try await withBrowsedStore { browsed throws in
      let script = "<img src=x onerror=alert(1)>\"'\u{2028}</script>"
      let table = try browsed.store.table("<b>")
      try table.add([script: .string(script), "list": [.string(script)]])
      for path in [
        "/api/store", "/api/tables/%3Cb%3E", "/api/tables/%3Cb%3E/records", "/api/tables/%3Cb%3E/record?id=1",
        "/api/tables/%3Cb%3E/values?field=list", "/api/tables/%3Cscript%3E/records",
        "/api/predicate?table=todo&where=%3Cscript%3E",
      ] {
        let answer = try browsed.get(path)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8", "\(path)")
      }
      let records = try #require(
        try browsed.members("/api/tables/%3Cb%3E/records")["records"] as? [[String: Any]])
      let fields = try #require(records[0]["fields"] as? [[Any]])
      #expect(fields.contains { $0[0] as? String == script && $0[1] as? String == script })
      for (format, type) in [
        ("csv", "text/csv"), ("tsv", "text/tab-separated-values"), ("json", "application/json"),
      ] {
        let export = try browsed.post("/api/tables/%3Cb%3E/export", #"{"format":"\#(format)"}"#)
        #expect(export.headers["content-type"] == "\(type); charset=utf-8")
      }
    }
  }

  @Test func onlyRealPicturesAreShown() async throws {
    try await withBrowsedStore { browsed throws in
      let pictures: [(String, [UInt8])] = [
        ("image/png", [0x89] + Array("PNG\r\n\u{1A}\n".utf8)), ("image/jpeg", [0xFF, 0xD8, 0xFF, 0xE0]),
        ("image/gif", Array("GIF89a".utf8)), ("image/webp", Array("RIFF\0\0\0\0WEBPVP8 ".utf8)),
      ]
      let beginnings: [[UInt8]] = [[0x89], [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8], Array("GIF88a".utf8)]
      let others = [
        "<!doctype html><script>alert(1)</script>",
        "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        "GIF", "%PDF-1.7", "\u{FEFF}<html>", "", "RIFF\0\0\0\0WAVE",
      ].map { Array($0.utf8) }
      let table = try browsed.store.table("files")
      for (type, bytes) in pictures {
        let id = try table.add(["file": .data(Data(bytes))])
        let answer = try browsed.get("/api/tables/files/picture?id=\(id)&field=file")
        #expect(answer.headers["content-type"] == type && answer.body == bytes)
      }
      for bytes in others + beginnings {
        let id = try table.add(["file": .data(Data(bytes))])
        #expect(try browsed.get("/api/tables/files/picture?id=\(id)&field=file").status == 404)
      }
    }
  }
}
