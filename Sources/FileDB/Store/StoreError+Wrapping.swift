import FileDBTables

extension StoreError {
  /// `error` itself, or the `StoreError` that represents an error of the caller's type.
  package init(wrapping error: any Error) {
    if let error = error as? StoreError {
      self = error
    } else {
      self.init(.invalidValue, "\(error)")
      underlyingError = error
    }
  }
}
