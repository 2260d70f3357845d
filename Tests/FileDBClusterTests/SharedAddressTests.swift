import FileDB
import TestSupport
import Testing

@testable import FileDBCluster

/// Addresses of shared stores.
@Suite struct SharedAddressTests {
  @Test(arguments: [
    ("postgres://db1/app?store=notes", "postgres://db1/app", "notes"),
    (
      "postgresql://me:p%40w@db1,db2:5433/app?sslmode=require&store=my%20notes&port=1",
      "postgresql://me:p%40w@db1,db2:5433/app?sslmode=require&port=1", "my notes"
    ),
    ("postgres://me:a?store=b@db1/app?store=c", "postgres://me:a?store=b@db1/app", "c"),
    ("postgres:///?store=n&dbname=a", "postgres:///?dbname=a", "n"),
    ("postgres://?store=n", "postgres://", "n"), ("postgres://db1/app", "postgres://db1/app", nil),
  ]) func storeIsTakenOut(text: String, connection: String, store: String?) throws {
    let address = try SharedAddress(text)
    #expect(address.connection == connection && address.store == store)
  }

  @Test(arguments: [
    "notes", "mysql://geheim", "postgres://geheim/a?store=", "postgres://geheim/a?store",
    "postgres://geheim/a?store=%f", "postgres://geheim/a?store=%ff", "postgres://geheim/a?store=a&store=b",
  ]) func wrongAddressIsToldWithoutRepeatingIt(text: String) {
    let error = storeError { _ = try SharedAddress(text) }
    #expect(error?.code == .unreachable && error?.description.contains("geheim") == false)
  }

  @Test func addressWithoutPasswordsLeadsToTheSamePlace() throws {
    guard let libpq = try? LibPQ.load() else { return }
    let info = "host=db1,db2 dbname='my app' user=me password=geheim sslpassword=geheim sslmode=verify-full"
    let text = try SharedAddress.text(of: info, store: "a&b c/d")
    #expect(!text.contains("geheim"))
    let address = try SharedAddress(text)
    #expect(address.store == "a&b c/d")
    let options = try libpq.options(of: address.connection)
    #expect(
      options.map { "\($0.name)=\($0.value)" }.sorted() == [
        "dbname=my app", "host=db1,db2", "sslmode=verify-full", "user=me",
      ])
  }

  @Test(arguments: ["passfile=/etc/passwd", "service=x", "options='-c a=b'", "krbsrvname=x"])
  func addressHasNoOptionThatReachesFurther(option: String) throws {
    guard (try? LibPQ.load()) != nil else { return }
    let error = storeError { _ = try SharedAddress.text(of: "host=db1 \(option)", store: "x") }
    #expect(
      error?.message.contains("'\(option.prefix { $0 != "=" })'") == true, "\(String(describing: error))")
  }
}
