import Foundation
import TestSupport
import Testing

/// A transaction that outlives its write does not compile.
@Suite struct EscapeTests {
  struct Snippet: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The compiler's expected error; `nil` for none.
    let error: String?
    let source: String

    init(_ name: String, error: String?, _ source: String) {
      testDescription = name
      self.error = error
      self.source = source
    }
  }

  private static let snippets = [
    Snippet(
      "used inside the write", error: nil,
      "func use(_ store: RecordStore) throws -> RecordID<Fields> { try store.write { tx in try tx[table].add([:]) } }"
    ),
    Snippet(
      "kept in a global variable", error: "missing reinitialization of inout parameter 'tx' after consume",
      """
      nonisolated(unsafe) var kept: StoreTransaction?
      func keep(_ store: RecordStore) throws { try store.write { tx in kept = consume tx } }
      """),
    Snippet(
      "kept in a property", error: "missing reinitialization of inout parameter 'tx' after consume",
      """
      final class Keeper {
        var kept: StoreTransaction?
        func keep(_ store: RecordStore) throws { try store.write { tx in kept = consume tx } }
      }
      """),
    Snippet(
      "kept in a local variable", error: "missing reinitialization of inout parameter 'tx' after consume",
      """
      func keep(_ store: RecordStore) throws {
        var kept: StoreTransaction?
        try store.write { tx in kept = consume tx }
        _ = try kept?[table].add([:])
      }
      """),
    Snippet(
      "kept as a copy", error: "implicit conversion to 'StoreTransaction?' is consuming",
      """
      func keep(_ store: RecordStore) throws {
        var kept: StoreTransaction?
        try store.write { tx in kept = tx }
      }
      """),
    Snippet(
      "kept in an array", error: "type 'StoreTransaction' does not conform to protocol 'Copyable'",
      """
      func keep(_ store: RecordStore) throws {
        var kept: [StoreTransaction] = []
        try store.write { tx in kept.append(tx) }
      }
      """),
    Snippet(
      "returned from the write", error: "requires that 'StoreTransaction' conform to 'Copyable'",
      """
      func keep(_ store: RecordStore) throws {
        _ = try store.write { tx -> StoreTransaction in tx }
      }
      """),
    Snippet(
      "captured by a closure that is kept", error: "escaping closure captures 'inout' parameter 'tx'",
      """
      func keep(_ store: RecordStore) throws {
        var kept: [() throws -> Void] = []
        try store.write { tx in kept.append { try tx[table].add([:]) } }
      }
      """),
    Snippet(
      "captured by a task", error: "escaping closure captures 'inout' parameter 'tx'",
      "func keep(_ store: RecordStore) throws { try store.write { tx in Task { try tx[table].add([:]) } } }"
    ),
    Snippet(
      "captured by a closure for another thread",
      error: "mutable capture of 'inout' parameter 'tx' is not allowed",
      """
      func keep(_ store: RecordStore) async throws {
        try await store.write { tx in
          let kept: @Sendable () throws -> Void = { try tx[table].add([:]) }
          try kept()
        }
      }
      """),
    Snippet(
      "used after it was given away", error: "'tx' used after consume",
      """
      func keep(_ store: RecordStore) throws {
        try store.write { tx in
          let mine = tx
          try tx[table].add([:])
          _ = try mine[table].snapshot()
        }
      }
      """),
    Snippet(
      "made without a write", error: "initializer is inaccessible",
      "func make() { _ = StoreTransaction() }"),
  ]

  @Test(
    .enabled(if: Compiler.isAvailable, "needs swiftc and the modules of a debug or release build"),
    arguments: snippets)
  func compilerRefusesTransactionThatOutlivesItsWrite(_ snippet: Snippet) throws {
    let (status, output) = try compile(
      """
      import FileDB
      let table = TableName<Fields>.records("t")
      \(snippet.source)
      """)
    if let error = snippet.error {
      #expect(status != 0)
      #expect(output.contains("error: ") && output.contains(error), "\(output)")
    } else {
      #expect(status == 0, "\(output)")
      #expect(!output.contains("warning: "), "\(output)")
    }
  }

  private func compile(_ source: String) throws -> (status: Int32, output: String) {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("Snippet.swift")
      try Data(source.utf8).write(to: file)
      // Ownership is checked in the intermediate language, after the types.
      return try Compiler.run(["-emit-sil", "-parse-as-library", "-o", "/dev/null", file.path])
    }
  }
}
