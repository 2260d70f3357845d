import FileDB

/// The ``StoreError`` that `body` throws; `nil` if it throws none or another error.
package func storeError(_ body: () throws -> Void) -> StoreError? {
  do { try body() } catch { return error as? StoreError }
  return nil
}
