import FileDB
import Foundation

// A contact book whose type has changed twice. Its records were written by three versions of the app and by
// `filedb`, and all are read as the newest type:
//
//     Contacts FOLDER sample 1            adds what version 1 of the app wrote; also 2 and 3
//     filedb --store FOLDER add contacts name=Grace
//     Contacts FOLDER                     lists all, by name
//     Contacts FOLDER find london         in names, numbers, streets and cities
//     Contacts FOLDER call 1 555-1234     adds a mobile phone
//     Contacts FOLDER migrate             stores all in the newest version

@main
struct Contacts {
  private static let usage =
    "usage: Contacts FOLDER [sample VERSION | find TEXT | call ID NUMBER | migrate]\n"

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let folder = arguments.first, let command = Command(arguments.dropFirst()) else {
      FileHandle.standardError.write(Data(usage.utf8))
      exit(64)
    }
    let store = try RecordStore(at: URL(fileURLWithPath: folder))
    do {
      try run(command, on: store.table(.contacts))
    } catch let error as StoreError {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
    try store.close()
  }

  private enum Command {
    case list, migrate
    case sample(version: Int)
    case find(String)
    case call(RecordID<Contact>, number: String)

    init?(_ words: ArraySlice<String>) {
      let rest = Array(words.dropFirst())
      switch (words.first, rest.count) {
      case (nil, _): self = .list
      case ("migrate", 0): self = .migrate
      case ("sample", 1):
        guard let version = Int(rest[0]), (1...3).contains(version) else { return nil }
        self = .sample(version: version)
      case ("find", 1): self = .find(rest[0])
      case ("call", 2):
        guard let id = RecordID<Contact>(rest[0]) else { return nil }
        self = .call(id, number: rest[1])
      default: return nil
      }
    }
  }

  private static func run(_ command: Command, on contacts: RecordTable<Contact>) throws {
    switch command {
    case .list: try show(contacts.snapshot().sorted(by: byName))
    case .find(let text): try find(text, in: contacts)
    case .call(let id, let number):
      try contacts.update(id) { $0.phones.append(Contact.Phone(kind: .mobile, number: number)) }
    case .sample(let version): print(try addSample(of: version, to: contacts.store))
    case .migrate:
      print("\(try contacts.migrate()) of \(try contacts.count) contacts were of an earlier version")
    }
  }

  private static let byName = [SortKey(\Contact.name, text: .localized)]

  private static func find(_ text: String, in contacts: RecordTable<Contact>) throws {
    let predicate = try RecordPredicate(
      """
      name CONTAINS[cd] $text OR ANY phones.number CONTAINS $text
        OR ANY addresses.street CONTAINS[cd] $text OR ANY addresses.city CONTAINS[cd] $text
      """, arguments: ["text": text])
    try show(contacts.snapshot().sorted(by: byName).filter { try predicate.matches($0) })
  }

  private static func show(_ contacts: [StoredRecord<Contact>]) {
    for contact in contacts {
      do { print(contact.id, try contact.value) } catch { print(contact.id, "is not a contact: \(error)") }
    }
  }

  private static func addSample(of version: Int, to store: RecordStore) throws -> AnyRecordID {
    switch version {
    case 1:
      let ada = ContactV1(fullName: "Ada Lovelace", phone: "555-1815", birthday: "1815-12-10")
      return AnyRecordID(try store.table(.contactsV1).add(ada))
    case 2:
      let emilie = ContactV2(name: "Émilie du Châtelet", group: "family", phone: "555-1706")
      return AnyRecordID(try store.table(.contactsV2).add(emilie))
    default:
      let home = Contact.Address(street: "12 Hill Road", city: "London")
      let phone = Contact.Phone(kind: .work, number: "555-1912")
      let alan = Contact(
        name: "Alan Turing", group: .work, phones: [phone], addresses: [home],
        birthday: Contact.day("1912-06-23"), reminder: .before(days: 7))
      return AnyRecordID(try store.table(.contacts).add(alan))
    }
  }
}
