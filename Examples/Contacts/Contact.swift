import FileDB
import Foundation

/// A contact in the app's newest version.
struct Contact: VersionedValue, DefaultedValue {
  struct Phone: Codable, Sendable {
    enum Kind: String, Codable { case home, mobile, work }

    var kind: Kind
    var number: String
  }

  struct Address: Codable, Sendable {
    var street: String
    var city: String
    var country: String?
  }

  enum Group: String, Codable { case family, friends, work, other }

  /// When the app reminds its user of the birthday.
  enum Reminder: Codable, Sendable {
    case never
    case before(days: Int)
  }

  var name: String
  var group = Group.other
  var phones: [Phone] = []
  var addresses: [Address] = []
  var birthday: Date?
  var reminder = Reminder.never

  /// For records that lack a field, such as those of `filedb add contacts name=Ada`.
  static let defaults = Contact(name: "")

  /// The first three lead to version 2, the others to this one. A field that has a default above needs no step.
  ///
  /// A record that `filedb` adds with only a name goes through all of them, and so becomes one of the friends.
  static let migrations: [ValueMigration] = [
    .rename("fullName", to: "name"),
    .convert("birthday") { $0.string.flatMap(day).map(PlistValue.date) },
    .default("group", "friends"),
    .rename("phone", to: "phones"),
    .convert("phones") { phone in phone.string.map { [["kind": "home", "number": .string($0)]] } },
  ]

  /// A day as version 1 wrote it: `1815-12-10`.
  static func day(_ text: String) -> Date? {
    try? Date(text, strategy: .iso8601.year().month().day())
  }
}

/// The type of the app's first version. A real app does not keep its former types. Here they write sample records.
struct ContactV1: Codable, Sendable {
  var fullName: String
  var phone: String?
  var birthday: String?
}

/// The type of its second version.
struct ContactV2: VersionedValue {
  var name: String
  var group: String
  var phone: String?
  var birthday: Date?

  static let migrations = Array(Contact.migrations.prefix(3))
}

// All versions of the app use the same table.
extension TableName<ContactV1> { static var contactsV1: Self { "contacts" } }
extension TableName<ContactV2> { static var contactsV2: Self { "contacts" } }
extension TableName<Contact> { static var contacts: Self { "contacts" } }

extension Contact: CustomStringConvertible {
  var description: String {
    let phones = phones.map { "\($0.number) (\($0.kind))" }
    let addresses = addresses.map {
      ([$0.street, $0.city] + [$0.country].compactMap(\.self)).joined(separator: ", ")
    }
    var parts = ["\(name), \(group)"] + phones + addresses
    if let birthday { parts.append("born \(birthday.formatted(.iso8601.year().month().day()))\(reminder)") }
    return parts.joined(separator: "; ")
  }
}

extension Contact.Reminder: CustomStringConvertible {
  var description: String {
    switch self {
    case .never: ""
    case .before(let days): ", reminder \(days) days before"
    }
  }
}
