import Synchronization

/// The fields in which types store what is at their key paths: each is found once.
enum KnownPaths {
  /// Unchecked for what a path may have captured as a subscript's argument: it is compared here, and never changed.
  private struct Path: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  private static let known = Mutex<[Path: FieldReference?]>([:])

  /// - Returns: `nil` if that cannot be told.
  static func reference<Value: Decodable, Field: Equatable>(
    of path: KeyPath<Value, Field>
  ) -> FieldReference? {
    let key = Path(path: path)
    if let reference = known.withLock({ $0[key] }) { return reference }
    // Not under the lock: the type's own code runs.
    let reference = FieldReference(of: path)
    known.withLock { $0[key] = .some(reference) }
    return reference
  }
}
