import FileDB
import Foundation
import TestSupport
import Testing

@Suite struct RepairTests {
  @Test func repairReportsAndRepairsDamagedTable() throws {
    try withTemporaryFolder { folder in
      try filedb("create", "good", in: folder)
      try filedb("create", "bad", in: folder)
      try filedb("add", "bad", "a=1", in: folder)
      try filedb("add", "bad", "a=2", in: folder)
      let file = folder.appendingPathComponent("bad.plist")
      let text = try String(contentsOf: file, encoding: .utf8)
      let cut = Data(text.utf8.prefix(text.utf8.count - 120))
      try cut.write(to: file)
      #expect(try filedb("check", in: folder).status == 65)

      let dry = try filedb("repair", "--dry-run", in: folder)
      #expect(dry.status == 0)
      #expect(dry.output.contains("bad: line") && dry.output.contains("good: sound"))
      #expect(try Data(contentsOf: file) == cut)

      let repair = try filedb("repair", in: folder)
      #expect(repair.status == 0)
      #expect(repair.output.hasPrefix(dry.output.prefix { $0 != "\n" }))
      #expect(repair.output.contains(".filedb/backups/bad.plist."))
      #expect(try filedb("check", in: folder).output == "bad: sound\ngood: sound\n")
      #expect(try filedb("get", "bad", "1", "a", in: folder).output == "1\n")

      try Data("nothing".utf8).write(to: file)
      let hopeless = try filedb("repair", in: folder)
      #expect(hopeless.status == 65)
      #expect(hopeless.error.contains("does not begin with"))
      #expect(hopeless.output == "good: sound\n")
    }
  }
}
