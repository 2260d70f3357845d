import FileDBTables

extension RecordTable {
  /// Declares what the table's fields are; see the synchronous `declare`.
  public func declare(_ schema: TableSchema?) async throws { try await writing { try $0.declare(schema) } }
}
