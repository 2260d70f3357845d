import FileDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Predicates that try to exhaust the stack, the memory or the time.
@Suite struct HostilePredicateTests {
  private func refusal(_ text: String) -> String? { storeError { _ = try RecordPredicate(text) }?.message }

  /// Runs `body` on a thread with the stack that Apple's systems give to all but the first.
  private func onASmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
    let result = Mutex<Result<Void, any Error>?>(nil)
    let end = startThread("a thread with a small stack", stackSize: 512 << 10) {
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
    }
    try end.wait()
    try result.withLock { $0 }?.get()
  }

  @Test func nestingDepthIsLimited() throws {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("!", ""), ("NOT(", ")"), ("TRUEPREDICATE AND (", ")")] {
      for depth in [101, 10_000] {
        let text =
          String(repeating: open, count: depth) + "a == 1" + String(repeating: close, count: depth)
        #expect(refusal(text)?.contains("more than 100 levels") == true, "\(open)")
      }
      let text = String(repeating: open, count: 49) + "a == 1" + String(repeating: close, count: 49)
      let predicate = try RecordPredicate(text)
      #expect(try RecordPredicate(predicate.description) == predicate)
    }
    try onASmallStack {
      let text = String(repeating: "NOT (", count: 48) + "a IN {{1}}" + String(repeating: ")", count: 48)
      let predicate = try RecordPredicate(text)
      #expect(try RecordPredicate(predicate.description) == predicate)
      let table = try RecordStore.inMemory().table("t")
      try table.add(["a": 1])
      #expect(try table.lastSnapshot.count(where: predicate) == 0)
    }
    #expect(refusal("a IN " + String(repeating: "{", count: 100_000))?.contains("levels") == true)
    var value = PlistValue.array([])
    for _ in 0..<200 { value = .array([value]) }
    #expect(storeError { _ = try RecordPredicate("a == %@", value) }?.code == .invalidPredicate)
  }

  @Test func lengthIsLimitedAndLongGarbageIsRefused() throws {
    let limit = 1 << 20
    #expect(refusal(String(repeating: " ", count: limit + 1))?.contains("at most 1048576 bytes") == true)
    let units = [
      " ", "(", ")", "'", "\"", "\\", "a ", "a.", "a[", "{", "{a,", "1", "-", "- ", "a+", "a*(", "7d ", "-(",
      "%", "%@", "#", "NOT ",
      "== ", "\\u{",
      "a == 1 AND ", "a == '\\u{", "\u{301}", "\u{0}", "\n", "ANY ", "1e", "!", "@", "a LIKE '*",
      "a MATCHES '(",
    ]
    for unit in units {
      let text = String(repeating: unit, count: limit / 8 / unit.utf8.count)
      #expect(refusal(text).map { $0.count < 200 } == true, "\(unit)")
      #expect(refusal("a == 1 OR a == '" + text).map { $0.count < 200 } == true, "\(unit)")
    }
    #expect(refusal(String(repeating: "a == 1 AND ", count: limit / 11)) == "expected a field or a value")
  }

  @Test func longSumsWork() throws {
    try onASmallStack {
      let table = try RecordStore.inMemory().table("t")
      try table.add(["a": 1])
      for unit in ["a + ", "a * 1 + ", "1 + ", "2 - a - "] {
        let text = String(repeating: unit, count: 20_000) + "a > 0 OR a == 1"
        let predicate = try RecordPredicate(text)
        #expect(try table.lastSnapshot.count(where: predicate) == 1)
        #expect(try RecordPredicate(predicate.description) == predicate)
      }
      let nested = String(repeating: "-(a + ", count: 45) + "a" + String(repeating: ")", count: 45)
      #expect(try table.lastSnapshot.count(where: RecordPredicate("\(nested) != 0.5")) == 1)
    }
  }

  @Test func predicatesWithManyTermsWork() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": 19_999])
      let chain = (0..<20_000).map { "a == \($0)" }.joined(separator: " OR ")
      #expect(try table.lastSnapshot.count(where: RecordPredicate(chain)) == 1)
      let list = "a IN {" + (0..<20_000).map(String.init).joined(separator: ",") + "}"
      let predicate = try RecordPredicate(list)
      #expect(try table.lastSnapshot.count(where: predicate) == 1)
      #expect(try RecordPredicate(predicate.description) == predicate)
    }
  }

  @Test func randomTextsAreReadOrRefused() throws {
    var random = SeededRandom.fromEnvironment("randomTextsAreReadOrRefused")
    let parts = [
      "a", "id", "#", "'", "\"", "\\", "u{", "}", "{", "(", ")", "[", "]", "c", "cd", ",", ".", "@count", "@",
      "%@", "%K",
      "==", "=", "<", ">", "!", "&&", "||", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "MATCHES",
      "CONTAINS", "ANY",
      "1", "-", "+", "*", "/", "7d", "now", "is", "2.5", "0x", "e", "TRUE", "NULL", "DATE", "\n", "\u{0}",
      "é", "\u{301}", "\u{1F600}",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 1...9, using: &random)
      let text = (0..<count).map { _ in parts.randomElement(using: &random)! }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      do {
        let predicate = try RecordPredicate(text, arguments: [])
        read += 1
        #expect(try RecordPredicate(predicate.description) == predicate, "\(text)")
      } catch let error as StoreError {
        #expect(error.code == .invalidPredicate && error.column != nil, "\(text)")
      }
    }
    #expect(read > 0)
  }

  /// ICU has no answer to the first for lack of time, and to the others for lack of stack.
  @Test(arguments: [("(a+)+b|a+c", "a", 40), ("(ab)*c", "ab", 1_000_000)])
  func patternThatTakesTooManyStepsIsAnError(pattern: String, unit: String, count: Int) throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": "aac"])
      let id = try table.add(["a": .string(String(repeating: unit, count: count) + "c")])
      let predicate = try RecordPredicate("id > 1 AND NOT a MATCHES %@", pattern)
      let snapshot = table.lastSnapshot
      let questions: [() throws -> Void] = [
        { _ = try snapshot.records(where: predicate) }, { _ = try snapshot.count(where: predicate) },
        { _ = try snapshot.first(where: predicate) }, { _ = try predicate.matches(snapshot[1]) },
        { try table.delete(where: predicate) },
      ]
      for ask in questions {
        let error = try #require(storeError(ask))
        #expect(error.code == .matchLimitExceeded)
        #expect(error.table == "t" && error.record == AnyRecordID(id) && error.message.contains(pattern))
      }
      #expect(table.lastSnapshot.count == 2)
    }
  }

  @Test func longTextsAndQuickPatternsAreWithinTheLimit() throws {
    try withStore { store in
      let table = try store.table("t")
      try table.add(["a": .string(String(repeating: "ab", count: 1_000_000) + "c")])
      for pattern in [".*c", "[ab]*c", ".*abc", "a.*bc"] {
        #expect(
          try table.lastSnapshot.count(where: RecordPredicate("a MATCHES %@", pattern)) == 1, "\(pattern)")
      }
      let like = try RecordPredicate("a LIKE '*a*a*a*a*a*a*a*a*a*a*a*a*d'")
      #expect(try table.lastSnapshot.count(where: like) == 0)
    }
  }
}
