import FileDBTables

extension RecordTable {
  /// Declares rules for the table's fields; see the synchronous `declare`.
  public func declare(_ schema: TableSchema?) async throws { try await writing { try $0.declare(schema) } }
}
