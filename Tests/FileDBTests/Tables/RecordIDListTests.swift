import FileDBTables
import TestSupport
import Testing

/// Lists of ids as text.
@Suite struct RecordIDListTests {
  private func ids(_ numbers: [Int64]) -> [AnyRecordID] { numbers.map { AnyRecordID(counted: $0) } }

  @Test func everyListIsReadAsItWasWritten() {
    var random = SeededRandom.fromEnvironment("everyListIsReadAsItWasWritten")
    for _ in 0..<500 {
      let numbers = (0..<Int.random(in: 0...20, using: &random)).map { _ in
        Bool.random(using: &random)
          ? Int64.random(in: 0...9, using: &random) : .max - .random(in: 0...3, using: &random)
      }
      var lists = RecordIDList.Reader()
      #expect(lists.ids(RecordIDList.text(ids(numbers))) == ids(numbers))
    }
  }

  @Test func listsOfOneFileTogetherAreNotTooLong() {
    var lists = RecordIDList.Reader(room: 10)
    #expect(lists.ids("0-9223372036854775807") == nil)
    #expect(lists.ids("1-6") == ids([1, 2, 3, 4, 5, 6]))
    #expect(lists.ids("1-5") == nil)
    #expect(lists.ids("1 1 1 1 1") == nil)
    #expect(lists.ids("7 2-4") == ids([7, 2, 3, 4]))
    #expect(lists.ids("1") == nil)
    #expect(lists.ids("") == [])
  }

  @Test(arguments: ["-", "a", "3-", "3-2", "1-2-3", "1,2", "9223372036854775808"])
  func otherTextIsNoList(text: String) {
    var lists = RecordIDList.Reader()
    #expect(lists.ids(text) == nil)
  }
}
