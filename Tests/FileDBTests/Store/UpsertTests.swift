import FileDB
import TestSupport
import Testing

private struct Contact: Codable, Sendable, Equatable {
  var email: String
  var name = ""
  var phone: Int?
}

extension TableName<Contact> {
  fileprivate static var contacts: Self { "contacts" }
}

/// `add` with an id, `upsert`, and `set` of a property.
@Suite struct UpsertTests {
  @Test(arguments: StorePlace.allCases) func recordIsAddedWithTheGivenID(place: StorePlace) throws {
    try withStore(place) { store in
      let contacts = try store.table(.contacts)
      try contacts.add(Contact(email: "a"), id: 7)
      try contacts.add(Contact(email: "b"), id: 3, at: .top)
      #expect(try contacts.snapshot().ids == [3, 7] && contacts.counter == 7)
      #expect(try contacts.add(Contact(email: "c")) == 8)
      let error = storeError { try contacts.add(Contact(email: "d"), id: 7) }
      #expect(error?.code == .duplicateID && error?.record == 7 && error?.table == "contacts")
      #expect(try contacts.snapshot().ids == [3, 7, 8])
      try contacts.delete(3)
      try contacts.add(Contact(email: "b again"), id: 3)
      #expect(try contacts.value(of: 3).email == "b again" && contacts.counter == 8)
    }
  }

  @Test func upsertByIDAddsOrUpdates() throws {
    try withStore { store in
      let contacts = try store.table(.contacts)
      try contacts.upsert(Contact(email: "a", phone: 1), id: 5)
      try contacts.upsert(Contact(email: "b"), id: 6, at: .top)
      try store.table("contacts").set(["unknown": true], of: 5)
      try contacts.upsert(Contact(email: "c"), id: 5, at: .top)
      #expect(try contacts.snapshot().ids == [6, 5])
      // As `update` does, it keeps what the type does not know, and removes what is `nil` now.
      #expect(
        try store.table("contacts").value(of: 5) == ["email": "c", "name": "", "unknown": true])
      #expect(storeError { try contacts.upsert(Contact(email: "d"), id: 9, at: .after(99)) }?.record == 99)
      #expect(try contacts.count == 2)
    }
  }

  /// With a lookup and without one, inside a write and outside.
  @Test(arguments: [false, true]) func upsertByAFieldAddsOrUpdates(hasLookup: Bool) throws {
    try withStore { store in
      var contacts = try store.table(.contacts)
      if hasLookup { contacts = contacts.withLookup(by: \.email) }
      #expect(try contacts.upsert(Contact(email: "a"), by: \.email) == 1)
      #expect(try contacts.upsert(Contact(email: "b"), by: \.email, at: .top) == 2)
      #expect(try contacts.upsert(Contact(email: "a", name: "A"), by: \.email, at: .top) == 1)
      #expect(try contacts.snapshot().ids == [2, 1])
      try store.write { tx in
        let contacts = try tx[.contacts]
        #expect(try contacts.upsert(Contact(email: "c"), by: \.email) == 3)
        #expect(try contacts.upsert(Contact(email: "c", name: "C"), by: \.email) == 3)
      }
      #expect(try contacts.values().get().map(\.name) == ["", "A", "C"])
    }
  }

  @Test func upsertByAFieldThatIsMissingAdds() throws {
    try withStore { store in
      let contacts = try store.table(.contacts)
      for _ in 0..<2 { try contacts.upsert(Contact(email: "a"), by: \.phone) }
      #expect(try contacts.upsert(Contact(email: "b", phone: 5), by: \.phone) == 3)
      #expect(try contacts.upsert(Contact(email: "c", phone: 5), by: \.phone) == 3)
      #expect(try contacts.values().get().map(\.email) == ["a", "a", "c"])
    }
  }

  @Test func upsertByAFieldThatIsNotUniqueIsRefused() throws {
    try withStore { store in
      let contacts = try store.table(.contacts)
      try contacts.add(contentsOf: [Contact(email: "a"), Contact(email: "a")])
      let error = storeError { try contacts.upsert(Contact(email: "a", name: "A"), by: \.email) }
      #expect(error?.code == .notUnique && error?.table == "contacts" && error?.record == 1)
      #expect(try contacts.values().get().allSatisfy { $0.name.isEmpty })
    }
  }

  @Test func propertyIsSetInOneRecordOrInSeveral() throws {
    try withStore { store in
      let contacts = try store.table(.contacts)
      let ids = try contacts.add(contentsOf: ["a", "b", "c"].map { Contact(email: $0) })
      try store.table("contacts").set(["unknown": true], of: 1)
      try contacts.set(\.phone, to: 4, of: ids[0])
      #expect(
        try store.table("contacts").value(of: 1) == ["email": "a", "name": "", "phone": 4, "unknown": true])
      try contacts.set(\.name, to: "x", of: ids.dropFirst())
      try contacts.set(\.phone, to: nil, of: ids[0])
      #expect(try contacts.values().get().map(\.name) == ["", "x", "x"])
      #expect(try contacts.value(of: 1).phone == nil)
      #expect(storeError { try contacts.set(\.name, to: "y", of: [1, 9]) }?.record == 9)
      #expect(try contacts.value(of: 1).name.isEmpty)
    }
  }

  @Test func asyncVerbsDoTheSame() async throws {
    let store = RecordStore.inMemory()
    let contacts = try await store.table(.contacts)
    try await contacts.add(Contact(email: "a"), id: 4)
    try await contacts.upsert(Contact(email: "b"), id: 4)
    #expect(try await contacts.upsert(Contact(email: "b", name: "B"), by: \.email) == 4)
    #expect(try await contacts.upsert(Contact(email: "c", phone: 5), by: \.phone, at: .top) == 5)
    try await contacts.set(\.name, to: "D", of: 4)
    try await contacts.set(\.phone, to: 6, of: [4, 5])
    let name = try await contacts.update(5) { contact in
      contact.name = "E"
      return contact.name + "!"
    }
    #expect(name == "E!")
    #expect(
      try contacts.values().get() == [
        Contact(email: "c", name: "E", phone: 6), Contact(email: "b", name: "D", phone: 6),
      ])
    try store.checkInvariants()
  }
}
