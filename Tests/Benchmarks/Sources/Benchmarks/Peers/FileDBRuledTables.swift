import FileDB
import Foundation

final class FileDBRuledTables: RuledTables {
  private struct Owner: Codable, Sendable {
    var name: String
  }

  private struct Item: Codable, Sendable {
    var code: String
    var amount: Int
    var owner: RecordID<Owner>
  }

  private let store: RecordStore
  private let rules: Rules
  private let owners: TableName<Owner>
  private let items: TableName<Item>

  init(in folder: URL, _ rules: Rules) throws {
    store = try RecordStore(at: folder)
    self.rules = rules
    switch rules {
    case .free: (owners, items) = (TableName("owners"), TableName("items"))
    case .kept:
      owners = TableName(
        "owners", declaring: TableDeclaration(.field(\.name, isRequired: true, isUnique: true)))
      items = TableName(
        "items",
        declaring: TableDeclaration(
          .field(\.code, isRequired: true, isUnique: true),
          .field(\.amount, isRequired: true, minimum: 0, maximum: 1_000_000),
          .field(\.owner, isRequired: true, references: ReferenceRule("owners", onDelete: .cascade))))
    }
    let (owners, items) = (owners, items)
    try store.write { tx in
      try tx[owners].create()
      try tx[items].create()
    }
  }

  func addOwners(_ count: Int) throws {
    let new = (0..<count).map { Owner(name: "owner \($0)") }
    let owners = owners
    try store.write { tx in _ = try tx[owners].add(contentsOf: new) }
  }

  func add(_ new: [RuledItem]) throws {
    let items = items
    try store.write { tx in
      _ = try tx[items].add(
        contentsOf: new.map {
          Item(code: $0.code, amount: $0.amount, owner: RecordID(integerLiteral: Int64($0.owner)))
        })
    }
  }

  func deleteOwner(_ id: Int, items ids: ClosedRange<Int>) throws {
    let (owners, items, rules) = (owners, items, rules)
    try store.write { tx in
      try tx[owners].delete(RecordID(integerLiteral: Int64(id)))
      if rules == .free {
        try tx[items].delete(ids.map { RecordID<Item>(integerLiteral: Int64($0)) })
      }
    }
  }

  func counts() throws -> (owners: Int, items: Int) {
    (try store.table(owners).count, try store.table(items).count)
  }

  func settle() throws { try store.checkpoint() }
}
