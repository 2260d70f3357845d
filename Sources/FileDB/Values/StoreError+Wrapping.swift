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

  /// The `StoreError` that represents what encoding a value threw.
  init(encoding error: any Error) {
    if case EncodingError.invalidValue(_, let context) = error {
      self.init(.invalidValue, context.debugDescription, field: FieldPath(context.codingPath).text)
    } else {
      self.init(wrapping: error)
    }
  }
}
