import Foundation
import TestSupport
import Testing

@testable import FileDB

private struct Memo: Codable, Sendable, Equatable {
  var title: String
  var isDone = false
}

extension TableName<Memo> {
  fileprivate static var memos: Self { "memos" }
}

/// `ObservableRecord` and `ObservableCount`.
@MainActor @Suite(.serialized) struct ObservableRecordTests {
  @Test func recordIsFollowed() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.memos)
    let id = try await notes.add(Memo(title: "a"))
    let note = ObservableRecord(id, in: notes)
    #expect(note.value == Memo(title: "a") && note.fault == nil)
    try await notes.set(\.isDone, to: true, of: id)
    try await wait(for: "the change") { note.value?.isDone == true }
    try await store.table("memos").set(["title": 5], of: id)
    try await wait(for: "the fault") { note.fault != nil }
    #expect(note.value == nil && note.fault?.record == AnyRecordID(id) && note.fault?.field == "title")
    try await store.table("memos").set(["title": "b"], of: id)
    try await wait(for: "the mended record") { note.value?.title == "b" }
    #expect(note.fault == nil)
    try await notes.delete(id)
    try await wait(for: "the deletion") { note.value == nil }
    #expect(note.fault == nil)
    try await notes.add(Memo(title: "again"), id: id)
    try await wait(for: "the record that comes back") { note.value?.title == "again" }
    try store.checkInvariants()
  }

  @Test func recordThatDoesNotExistYetIsFollowed() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.memos)
    let note = ObservableRecord(3, in: notes)
    #expect(note.value == nil && note.fault == nil)
    try await notes.add(Memo(title: "a"), id: 3)
    try await wait(for: "the record") { note.value != nil }
  }

  @Test func countsAreFollowed() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.memos)
    try await notes.add(contentsOf: [Memo(title: "a"), Memo(title: "b", isDone: true)])
    let all = ObservableCount(notes)
    let open = [
      ObservableCount(notes, where: { !$0.isDone }),
      ObservableCount(notes, where: try RecordPredicate("isDone == NO")),
      ObservableCount(notes, where: #Predicate { !$0.isDone }),
    ]
    #expect(all.count == 2 && open.map(\.count) == [1, 1, 1])
    try await notes.set(\.isDone, to: false, of: 2)
    try await wait(for: "the count of the open notes") { open.map(\.count) == [2, 2, 2] }
    #expect(all.count == 2)
    try await notes.deleteAll()
    try await wait(for: "empty counts") { all.count == 0 && open.map(\.count) == [0, 0, 0] }
    try store.checkInvariants()
  }

  /// Nobody would notice otherwise that the store is still watched for a view that is gone.
  @Test func observationEndsWithTheObject() async throws {
    let store = RecordStore.inMemory()
    let notes = try await store.table(.memos)
    do {
      let (count, note) = (ObservableCount(notes), ObservableRecord(1, in: notes))
      try await wait(for: "the listeners") { store.signals.haveListeners }
      #expect(count.count == 0 && note.value == nil)
    }
    try await wait(for: "the end of the listeners") { !store.signals.haveListeners }
  }
}
