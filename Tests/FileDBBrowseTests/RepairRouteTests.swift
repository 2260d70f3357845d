import FileDB
import Foundation
import TestSupport
import Testing

@testable import FileDBBrowse

/// A store with a broken table.
@Suite struct RepairRouteTests {
  @Test func brokenTableIsShownAndRepaired() async throws {
    try await withBrowsedStore { browsed throws in
      try browsed.store.checkpoint()
      let file = try browsed.store.table("todo").url.deletingLastPathComponent().appendingPathComponent(
        "broken.plist")
      let whole = try String(contentsOf: browsed.store.table("todo").url, encoding: .utf8)
      try Data(whole.replacing("<string>2</string>", with: "<string>1</string>").utf8).write(to: file)
      try browsed.post("/api/tables/todo/delete", #"{"ids":["3"]}"#)
      let overview = try browsed.get("/api/store").text
      #expect(overview.contains(#"{"name":"broken","count":null,"problem":"#), "\(overview)")
      #expect(overview.contains(#"{"name":"todo","count":2,"problem":null"#))
      let table = try browsed.members("/api/tables/broken")
      let problem = try #require(table["problem"] as? [String: Any])
      #expect(problem["line"] is Int && problem["message"] is String)
      #expect(try browsed.get("/api/tables/broken/records").status == 422)
      let problems = try #require(
        try browsed.members("/api/tables/broken/check")["problems"] as? [[String: Any]])
      #expect(problems.first?["damage"] as? Bool == true && problems.first?["line"] is Int)
      let plan = try browsed.post("/api/tables/broken/repair", #"{"apply":false}"#)
      #expect(plan.status == 200 && plan.text.contains("line"), "\(plan.text)")
      #expect(plan.text.hasSuffix(#""kept":3,"lost":0,"backups":[]}"#), "\(plan.text)")
      #expect(try browsed.get("/api/tables/broken/records").status == 422)
      let report = try browsed.post("/api/tables/broken/repair", #"{"apply":true}"#)
      #expect(report.text.contains(#""backups":["/"#), "\(report.text)")
      #expect(try browsed.list("/api/tables/broken/records").count == 3)
      #expect(try browsed.get("/api/tables/broken/check").text == #"{"problems":[]}"#)
      #expect(
        try browsed.post("/api/tables/todo/repair", #"{"apply":true}"#).text
          == #"{"notes":[],"before":null,"kept":2,"lost":0,"backups":[]}"#)
      // It is no step of undo, and what was done before it can be taken back.
      #expect(try browsed.steps("undo") == ["deletion of 1 record from todo"])
      #expect(try browsed.takeBack("undo").status == 200)
      #expect(try browsed.list("/api/tables/todo/records") == ["1", "2", "3"])
      #expect(try browsed.list("/api/tables/broken/records").count == 3)
    }
  }
}
